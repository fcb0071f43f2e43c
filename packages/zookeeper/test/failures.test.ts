import type { QueueLockError, Session } from '@queuelock/core/backend';
import { expect } from 'chai';
import type { Subscription } from 'rxjs';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { Bench, admitted, ending, eventually, newQueue, outcome, newSpec } from './bench.ts';
import { describeDriverFailures } from './driver-failures.ts';
import { ownServer, proxyTo } from './own-server.ts';
import { untilExpired } from './severable-backends.ts';

const { signal } = new AbortController();

/** Returns the address of the server that all tests share. No test may harm it. */
async function shared(): Promise<string> {
  return (await sharedZooKeeper('trouble of @queuelock/zookeeper')).endpoint;
}

describe('a ZooKeeper session', () => {
  const bench = new Bench();
  afterEach(() => bench.clear());

  it('keeps its entries when the server restarts', async () => {
    const server = await ownServer(bench);
    const queue = newQueue();
    const sessions = [await bench.session(server.endpoint), await bench.session(server.endpoint)] as const;
    const seen: (number | string)[] = [];
    const backend = bench.backend(server.endpoint);
    const watch = (): Subscription =>
      backend.observe(queue).subscribe({
        next: (entries) => seen.push(entries.length),
        error: (error: unknown) => seen.push((error as QueueLockError).code),
      });
    watch();
    const held = newSpec(queue);
    const holder = await sessions[0].enqueue(held);
    const waiter = await sessions[1].enqueue(newSpec(queue));
    const turn = admitted(waiter);
    await eventually(() => seen.at(-1) === 2);
    let lost: string | undefined;
    void ending(holder).then((code) => (lost = code));
    await server.kill();
    await eventually(() => seen.at(-1) === 'UNAVAILABLE');
    const watching = watch();
    await server.restart();
    await eventually(async () => (await outcome(sessions[0].renew(signal))) === 'fine');
    expect(lost).to.equal(undefined);
    expect(await sessions[0].remove(queue, held.id)).to.equal(true);
    await turn;
    await eventually(() => seen.at(-1) === 1);
    watching.unsubscribe();
  });

  it('ends all its entries with SESSION_LOST when it expires', async () => {
    const server = await shared();
    const proxy = await proxyTo(bench, server);
    const queue = newQueue();
    const other = await bench.session(server);
    const session = await bench.session(proxy.endpoint, 2_000);
    const placements = [
      await session.enqueue(newSpec(queue)),
      await session.enqueue(newSpec(queue)),
    ] as const;
    const next = admitted(await other.enqueue(newSpec(queue)));
    const ends = placements.map(ending);
    proxy.refuse();
    proxy.cut();
    await untilExpired(server, session.id);
    await next;
    const calls = [
      session.renew(signal),
      session.enqueue(newSpec(queue)),
      session.tryEnqueue(newSpec(queue)),
    ].map(outcome);
    await proxy.accept();
    expect(await Promise.all(ends)).to.deep.equal(['SESSION_LOST', 'SESSION_LOST']);
    for (const code of await Promise.all(calls)) expect(code).to.be.oneOf(['SESSION_LOST', 'UNAVAILABLE']);
    expect(await outcome(session.renew(signal))).to.equal('SESSION_LOST');
    expect(await outcome(session.enqueue(newSpec(queue)))).to.equal('SESSION_LOST');
    expect(await session.remove(queue, 'a'.repeat(32))).to.equal(false);
  });

  it('rejects a call at its timeout, with an unknown outcome, when the server is frozen', async () => {
    const server = await ownServer(bench);
    const session: Session = await bench.session(server.endpoint, 4_000);
    await server.freeze();
    const startedAt = performance.now();
    expect(await outcome(session.enqueue(newSpec(newQueue())))).to.equal('UNAVAILABLE');
    expect(performance.now() - startedAt).to.be.at.least(1_900);
    await server.thaw();
  });
});

describeDriverFailures('wire');
