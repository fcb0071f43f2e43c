import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { safely } from '@queuelock/conformance';
import type { LockClient } from '@queuelock/core';
import { expect } from 'chai';
import { compact } from './compaction.ts';
import { layGround } from './ground.ts';
import { join, type Place } from './join.ts';
import { expectAllServedAfter } from './outage.ts';
import { loseToSilence } from './silence.ts';
import { stores } from './stores.ts';
import { soon, untilHolds, untilNothingIsLeft } from './wait.ts';

for (const store of stores) {
  describe(`faults with ${store.name}`, function () {
    this.timeout(60_000);
    const ground = layGround(store, 'trouble');
    const { connect, connectThroughProxy } = ground;

    it('cost no client its lock or position when a server crashes', async () => {
      const { site } = ground;
      const crash = async (): Promise<void> => {
        await site.server.kill();
        await site.server.restart();
      };
      await expectAllServedAfter(crash, { site, name: 'crash' });
    });

    it('cost no client its lock or position when a connection is cut and comes back within the TTL', async () => {
      const { site, proxy } = ground;
      const client = connectThroughProxy();
      const mine = await client.acquire('cut-held');
      const holder = await connect().acquire('cut-awaited');
      const place = await join(client, 'cut-awaited');
      proxy.refuse();
      const doubted = untilStatus(client, 'suspect');
      proxy.cut();
      await soon(doubted, 'the session is suspect');
      await holder.release();
      await proxy.accept();
      await soon(untilStatus(client, 'alive'), 'the session is alive again');
      expect(mine.held).to.equal(true);
      await expectServedInOrder([place], holder.token);
      await mine.release();
      await untilNothingIsLeft(site, 'cut-held');
    });

    it('cost no holder its lock when its connection is cut while a child process of the holder runs', async () => {
      const { proxy } = ground;
      const client = connectThroughProxy();
      const mine = await client.acquire('child');
      const child = spawn('sleep', ['60'], { stdio: 'ignore' });
      try {
        await once(child, 'spawn');
        const { accepted } = proxy;
        proxy.cut();
        await untilHolds('it connects again', async () => expect(proxy.accepted).to.be.above(accepted));
        const next = await join(connect(), 'child');
        await soon(mine.release(), 'the release is confirmed');
        await soon((await next.held).release(), 'the next one has its turn');
      } finally {
        child.kill();
      }
    });

    it('end the hold of a client whose connection is silent beyond the TTL, before the next hold begins', async () => {
      await loseToSilence(ground, 'silent');
    });

    it('end only the claim of the waiter whose entry an operator removes', async () => {
      const { site } = ground;
      const holder = await connect().acquire('evicted-waiter');
      const [before, evicted, behind] = [
        await join(connect(), 'evicted-waiter'),
        await join(connect(), 'evicted-waiter'),
        await join(connect(), 'evicted-waiter'),
      ];
      await site.evict(evicted.key);
      const error = await soon(
        evicted.held.catch((reason: unknown) => reason),
        'the waiter is told',
      );
      expect(error).to.include({ code: 'ENTRY_LOST' });
      expect(holder.held).to.equal(true);
      await holder.release();
      await expectServedInOrder([before, behind], holder.token);
      await untilNothingIsLeft(site, 'evicted-waiter');
    });

    it('end a hold whose entry an operator removes, and the queue continues', async () => {
      const { site } = ground;
      const holder = await connect().acquire('evicted-holder');
      const line = [await join(connect(), 'evicted-holder'), await join(connect(), 'evicted-holder')];
      const reported = once(holder.signal, 'abort');
      await site.evict(holder.key);
      await soon(reported, 'the holder is notified');
      expect(holder.signal.reason).to.include({ code: 'OWNERSHIP_LOST', reason: 'entry-removed' });
      safely(() => expect(holder.held).to.equal(false));
      await expectServedInOrder(line, holder.token);
      await untilNothingIsLeft(site, 'evicted-holder');
    });

    if (store.name === 'etcd') {
      it('do not hide a grant from a waiter that is cut off while etcd compacts its history', async () => {
        const { site, proxy } = ground;
        const holder = await connect().acquire('hidden');
        const place = await join(connectThroughProxy(), 'hidden');
        proxy.refuse();
        proxy.cut();
        await holder.release();
        await (await connect().acquire('something-else')).release();
        await compact(site);
        await proxy.accept();
        await expectServedInOrder([place], holder.token);
      });
    }
  });
}

/** Expects that each claim is granted after the previous one has released, with a larger token. */
async function expectServedInOrder(line: readonly Place[], after: bigint): Promise<void> {
  let before = after;
  for (const [at, place] of line.entries()) {
    const ownership = await soon(place.held, `number ${at + 1} in line is granted`);
    expect(ownership.held).to.equal(true);
    safely(() => expect(ownership.token > before).to.equal(true));
    before = ownership.token;
    await ownership.release();
  }
}

async function untilStatus(client: LockClient, status: string): Promise<void> {
  return new Promise((resolve) => {
    const states = client.session$.subscribe((state) => {
      if (state.status !== status) return;
      resolve();
      queueMicrotask(() => states.unsubscribe());
    });
  });
}
