import { safely } from '@queuelock/conformance';
import type { Ownership } from '@queuelock/core';
import { expect } from 'chai';
import type { Ground } from './ground.ts';
import { join } from './join.ts';
import { soon, untilNothingIsLeft } from './wait.ts';

/**
 * Makes a client hold one lock and wait for another, and then drops all data of its connection. Expects that
 * the client loses its hold and its wait, and loses the hold before the next client is granted. Resolves with
 * the milliseconds from the drop to the loss.
 */
export async function loseToSilence(
  { site, proxy, connect, connectThroughProxy }: Ground,
  name: string,
): Promise<number> {
  const [held, awaited] = [`${name}-held`, `${name}-awaited`];
  const client = connectThroughProxy({ ttlMs: site.ttlMs });
  const mine = await client.acquire(held);
  const lostAt = lossOf(mine);
  const holder = await connect().acquire(awaited);
  const waiting = await join(client, awaited);
  const next = await join(connect(), held);
  const nextAt = next.held.then(() => performance.now());
  proxy.toServer.blackhole();
  proxy.toClient.blackhole();
  const silentAt = performance.now();
  const [lost, granted] = [await lostAt, await nextAt];
  safely(() => {
    expect(lost).to.be.lessThan(granted);
    expect(mine.held).to.equal(false);
  });
  expect(mine.signal.reason).to.include({ code: 'OWNERSHIP_LOST', reason: 'heartbeat-timeout' });
  expect(await waiting.held.catch((error: unknown) => error)).to.include({ code: 'SESSION_LOST' });
  await proxy.heal();
  await holder.release();
  await (await soon(client.acquire(awaited), 'the client gets another session')).release();
  await (await next.held).release();
  await untilNothingIsLeft(site, held);
  await untilNothingIsLeft(site, awaited);
  return granted - silentAt;
}

/** Resolves with the time at which the signal aborts, by `performance.now()`. */
async function lossOf({ signal }: Ownership): Promise<number> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(performance.now()));
  });
}
