import { expect } from 'chai';
import type { Redis } from 'ioredis';
import { admitted, lost, signal, newSpec } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';

const WITHIN_MS = 30_000;

type Kept = readonly (readonly [key: string, dump: Buffer])[];

/** A copy of all data of a server. Restoring it gives the server the state of a replica that lags and takes over. */
class Snapshot {
  readonly #kept: Kept;

  static async of(redis: Redis): Promise<Snapshot> {
    const keys = await redis.keys('*');
    return new Snapshot(
      await Promise.all(keys.map(async (key) => [key, await redis.dumpBuffer(key)] as const)),
    );
  }

  private constructor(kept: Kept) {
    this.#kept = kept;
  }

  async restore(redis: Redis): Promise<void> {
    const restored = this.#kept.reduce(
      (commands, [key, dump]) => commands.restore(key, 0, dump),
      redis.multi().flushall(),
    );
    await restored.exec();
  }
}

describe('a Redis that lost its latest writes but no connection', () => {
  const clients = new Clients();

  it('makes no waiter wait behind an entry that was already removed', async () => {
    const [one, other] = [await clients.session(), await clients.session()];
    const held = newSpec();
    await one.enqueue(held);
    const before = await Snapshot.of(clients.operator.redis);
    await one.remove('jobs', held.id);
    await before.restore(clients.operator.redis);
    const turn = admitted(await other.enqueue(newSpec()));
    await one.renew(signal);
    await turn;
  }).timeout(WITHIN_MS);

  it("is detected by the holder's next heartbeat", async () => {
    const session = await clients.session();
    const before = await Snapshot.of(clients.operator.redis);
    const loss = lost(await session.enqueue(newSpec()));
    await before.restore(clients.operator.redis);
    expect((await (await clients.session()).enqueue(newSpec())).turn.admitted).to.equal(true);
    await session.renew(signal);
    expect(await loss).to.equal('ENTRY_LOST');
  }).timeout(WITHIN_MS);

  it('ends the present hold at the next heartbeat', async () => {
    const [one, other] = [await clients.session(), await clients.session()];
    const held = newSpec();
    await one.enqueue(held);
    const waiting = await other.enqueue(newSpec());
    const before = await Snapshot.of(clients.operator.redis);
    const turn = admitted(waiting);
    const loss = lost(waiting);
    await one.remove('jobs', held.id);
    await turn;
    await before.restore(clients.operator.redis);
    await other.renew(signal);
    expect(await loss).to.equal('ENTRY_LOST');
    await one.renew(signal);
    await admitted(await other.enqueue(newSpec()));
  }).timeout(WITHIN_MS);

  it('keeps the entries that a resumed session had not released', async () => {
    const backend = clients.connect();
    const session = await clients.session(backend);
    const [stays, leaves] = [newSpec({ queue: 'stays' }), newSpec({ queue: 'leaves' })];
    await session.enqueue(stays);
    await session.enqueue(leaves);
    await session.abandon!();
    const resumed = await clients.connect().resume!(session.resumption!, signal);
    await resumed.enqueue(leaves);
    const before = await Snapshot.of(clients.operator.redis);
    await resumed.remove('leaves', leaves.id);
    await before.restore(clients.operator.redis);
    const other = await clients.session();
    const turn = admitted(await other.enqueue(newSpec({ queue: 'leaves' })));
    await resumed.renew(signal);
    await turn;
    expect((await resumed.enqueue(stays)).turn.admitted).to.equal(true);
    expect(await other.tryEnqueue(newSpec({ queue: 'stays' }))).to.equal(undefined);
    await resumed.close();
  }).timeout(WITHIN_MS);
});
