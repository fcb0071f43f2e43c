import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { judge } from '@queuelock/cli/src/demo/judge.ts';
import { createLockClient, type LockClient, type LockClientOptions } from '@queuelock/core';
import { expect } from 'chai';
import { startProxy, type TcpProxy } from '../faults.ts';
import { callGateway } from '../services/plain-clients.ts';
import { endScripts } from './child-process.ts';
import { startContender, type ContenderProcess } from './contenders.ts';
import { join, type Place } from './join.ts';
import { stores, type OwnSite } from './stores.ts';
import { soon, untilHolds, untilNothingIsLeft } from './wait.ts';

const NOTICED_WITHIN_MS = 1_000;
const CONTENDERS = 12;
const ROUNDS = 40;

for (const store of stores) {
  describe(`trouble with ${store.name}`, function () {
    this.timeout(60_000);
    let site: OwnSite;
    let proxy: TcpProxy;
    const clients: LockClient[] = [];

    const connect = (options: LockClientOptions = {}): LockClient => open(site.endpoint, options);
    const connectThroughProxy = (options: LockClientOptions = {}): LockClient =>
      open(proxy.endpoint, options);
    const open = (endpoint: string, options: LockClientOptions): LockClient => {
      const client = createLockClient(site.backend(endpoint), options);
      clients.push(client);
      return client;
    };

    before(async () => {
      site = await store.start('trouble');
    });

    beforeEach(async () => {
      proxy = await startProxy(site.endpoint);
    });

    afterEach(async () => {
      await endScripts();
      await proxy.stop();
      await Promise.all(clients.splice(0).map((client) => client.close()));
    });

    after(async () => {
      await site.server.stop();
    });

    for (const crash of [false, true]) {
      it(`a server that ${crash ? 'crashes' : 'restarts'} costs nobody the hold or the place in line`, async () => {
        const name = crash ? 'crash' : 'restart';
        const line: ContenderProcess[] = [];
        for (const id of ['holder', 'first', 'second', 'third']) {
          const holdMs = id === 'holder' ? 600_000 : 0;
          const contender = startContender({ url: site.url(), name, id, holdMs });
          await contender.untilEvent('enqueued');
          line.push(contender);
        }
        if (crash) await site.server.kill();
        await site.server.restart();
        await line[0]!.stop();
        await Promise.all(line.map(({ ended }) => ended));
        const history = line.flatMap(({ events }) => events);
        const { violations, served } = judge(history);
        expect({ violations, served }).to.deep.equal({ violations: [], served: line.length });
        await untilNothingIsLeft(site, name);
      });
    }

    it('a connection that is cut and comes back within the TTL costs neither hold nor place', async () => {
      const client = connectThroughProxy();
      const mine = await client.acquire('cut-held');
      const holder = await connect().acquire('cut-awaited');
      const place = await join(client, 'cut-awaited');
      proxy.refuse();
      const doubted = untilStatus(client, 'doubtful');
      proxy.cut();
      await soon(doubted, 'the session is doubtful');
      await holder.release();
      await proxy.accept();
      await soon(untilStatus(client, 'alive'), 'the session is alive again');
      expect(mine.held).to.equal(true);
      await expectServedInOrder([place], holder.token);
      await mine.release();
      await untilNothingIsLeft(site, 'cut-held');
    });

    it('a child process that keeps a broken connection open costs neither the hold nor the next one', async () => {
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

    it('a connection that is silent for longer than the TTL ends the hold before the next one begins', async () => {
      const client = connectThroughProxy({ ttlMs: site.ttlMs });
      const mine = await client.acquire('silent-held');
      const holder = await connect().acquire('silent-awaited');
      const waiting = await join(client, 'silent-awaited');
      const next = await join(connect(), 'silent-held');
      const lostAt = new Promise<number>((resolve) =>
        mine.signal.addEventListener('abort', () => resolve(performance.now())),
      );
      const nextAt = next.held.then(() => performance.now());
      proxy.toServer.blackhole();
      proxy.toClient.blackhole();
      const silentAt = performance.now();
      expect(await lostAt).to.be.lessThan(await nextAt);
      expect((await nextAt) - silentAt).to.be.at.most(site.ttlMs + site.expiryMs);
      expect(mine.held).to.equal(false);
      expect(mine.signal.reason).to.include({ code: 'OWNERSHIP_LOST', reason: 'in-doubt-too-long' });
      expect(await failureOf(waiting.held)).to.include({ code: 'SESSION_LOST' });
      await proxy.heal();
      await holder.release();
      await (await soon(client.acquire('silent-awaited'), 'the client gets another session')).release();
      await (await next.held).release();
      await untilNothingIsLeft(site, 'silent-held');
      await untilNothingIsLeft(site, 'silent-awaited');
    });

    it("an operator who removes a waiter's entry ends that wait, and nobody else's", async () => {
      const holder = await connect().acquire('evicted-waiter');
      const [before, evicted, behind] = [
        await join(connect(), 'evicted-waiter'),
        await join(connect(), 'evicted-waiter'),
        await join(connect(), 'evicted-waiter'),
      ];
      await site.evict(evicted.key);
      const error = await soon(failureOf(evicted.held), 'the waiter is told', NOTICED_WITHIN_MS);
      expect(error).to.include({ code: 'ENTRY_LOST' });
      expect(holder.held).to.equal(true);
      await holder.release();
      await expectServedInOrder([before, behind], holder.token);
      await untilNothingIsLeft(site, 'evicted-waiter');
    });

    it("an operator who removes the holder's entry ends the hold, and the queue goes on", async () => {
      const holder = await connect().acquire('evicted-holder');
      const line = [await join(connect(), 'evicted-holder'), await join(connect(), 'evicted-holder')];
      const told = new Promise<void>((resolve) => holder.signal.addEventListener('abort', () => resolve()));
      await site.evict(holder.key);
      await soon(told, 'the holder is told', NOTICED_WITHIN_MS);
      expect(holder.signal.reason).to.include({ code: 'OWNERSHIP_LOST', reason: 'entry-removed' });
      expect(holder.held).to.equal(false);
      await expectServedInOrder(line, holder.token);
      await untilNothingIsLeft(site, 'evicted-holder');
    });

    if (store.name === 'etcd') {
      it('compaction of the whole history every 50 ms stops nobody', async () => {
        const compacting = setInterval(() => void compact(site), 50);
        try {
          const rounds = Array.from({ length: CONTENDERS }, async (_, i) => {
            const client = connect();
            const tokens = [];
            for (let round = 0; round < ROUNDS; round += 1) {
              tokens.push(await client.run(`compacted-${i % 3}`, ({ token }) => token));
            }
            return tokens;
          });
          const tokens = await Promise.all(rounds);
          expect(tokens.flat()).to.have.lengthOf(CONTENDERS * ROUNDS);
        } finally {
          clearInterval(compacting);
        }
      });

      it('compaction while a waiter is cut off does not hide from it that its turn has come', async () => {
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

/** Each is granted after the one before it has released, with a larger token. */
async function expectServedInOrder(line: readonly Place[], after: bigint): Promise<void> {
  let before = after;
  for (const [at, place] of line.entries()) {
    const ownership = await soon(place.held, `number ${at + 1} in line is granted`);
    expect(ownership.held).to.equal(true);
    expect(ownership.token > before).to.equal(true);
    before = ownership.token;
    await ownership.release();
  }
}

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => new Error('it did not fail'),
    (error: unknown) => error,
  );
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

async function compact({ endpoint }: OwnSite): Promise<void> {
  const { header } = (await callGateway(endpoint, 'kv/range', { key: 'AA==' })) as {
    header: { revision: string };
  };
  // Nothing to do is refused.
  await callGateway(endpoint, 'kv/compaction', { revision: header.revision }).catch(() => undefined);
}
