import { safely } from '@queuelock/conformance';
import { createLockClient } from '@queuelock/core';
import { etcd } from '@queuelock/etcd';
import { expect } from 'chai';
import { etcdTransport } from '@queuelock/harness/services/etcd-transport';
import { codeOf, eventually, freshQueue } from './clients.ts';
import { HandOffBench, type QueuedEntry } from './handoff-bench.ts';
import { handledTxns } from './requests.ts';

describe('an entry directly behind a holder of the same etcd session', () => {
  const bench = new HandOffBench();

  let clock: () => number;
  beforeEach(() => {
    clock = performance.now.bind(performance);
  });
  afterEach(() => {
    Object.assign(performance, { now: clock });
  });

  /**
   * Stops the clock of this process, so that even on a busy machine no removal counts as unconfirmed for too long. handing-over-limits.test.ts tests
   * removals that are.
   */
  function freeze(): void {
    const frozenAt = clock();
    Object.assign(performance, { now: () => frozenAt });
  }

  /**
   * Enqueues `count` entries of one session, which is connected through the first of the two proxies, and behind them one entry of another session.
   */
  async function enqueueMany(
    count: number,
  ): Promise<{ readonly places: QueuedEntry[]; readonly other: QueuedEntry }> {
    const queue = freshQueue();
    const session = await bench.at.clients.session({
      hosts: bench.at.proxies[0].endpoint,
      requestTimeoutMs: 1_000,
    });
    const places: QueuedEntry[] = [];
    for (let i = 0; i < count; i += 1) places.push(await bench.enter(session, queue));
    const other = await bench.enter(await bench.open(), queue);
    await bench.untilQuiet([...places, other]);
    freeze();
    return { places, other };
  }

  const isAdmitted = ({ turns }: QueuedEntry): boolean => turns.wasAdmitted;

  it('is granted before the server confirms the removal of the holder', async () => {
    const { places, other } = await enqueueMany(3);
    const [first, second, third] = places as [QueuedEntry, QueuedEntry, QueuedEntry];
    bench.at.proxies[0].toServer.blackhole();
    const left = [codeOf(bench.leave(first))];
    await second.turns.untilAdmitted();
    left.push(codeOf(bench.leave(second)));
    await third.turns.untilAdmitted();
    const tokens = places.map(({ turns }) => turns.turn?.grantToken);
    safely(() => expect(tokens[2]! > tokens[1]! && tokens[1]! > tokens[0]!).to.equal(true));
    expect(await Promise.all(left), 'what could not be sent').to.deep.equal(['UNAVAILABLE', 'UNAVAILABLE']);
    safely(() => expect(isAdmitted(other)).to.equal(false));
    await bench.at.proxies[0].heal();
    for (const position of [second, first, third]) await eventually('it is out', () => hasLeft(position));
    await other.turns.untilAdmitted();
  });

  it('blocks waiters of other sessions until the removal of its predecessor commits', async () => {
    const { places, other } = await enqueueMany(2);
    const [first, second] = places as [QueuedEntry, QueuedEntry];
    bench.at.proxies[0].toClient.blackhole();
    await bench.at.operator.remove(second.turns.key);
    const left = codeOf(bench.leave(first));
    await second.turns.untilAdmitted();
    expect(await left).to.equal('UNAVAILABLE');
    expect(await bench.at.operator.keysUnder(`${first.spec.queue}/`)).to.deep.equal([
      first.turns.key,
      other.turns.key,
    ]);
    safely(() => expect(isAdmitted(other)).to.equal(false));
    await bench.at.proxies[0].heal();
    expect(await second.turns.untilLost()).to.have.property('code', 'ENTRY_LOST');
    await eventually('it is out', () => hasLeft(first));
    await other.turns.untilAdmitted();
  });

  it("blocks waiters of other sessions until the removal of the session's first entry commits", async () => {
    const { places, other } = await enqueueMany(3);
    const [first, second, third] = places as [QueuedEntry, QueuedEntry, QueuedEntry];
    bench.at.proxies[0].toClient.blackhole();
    await bench.at.operator.remove(second.turns.key);
    await bench.at.operator.remove(third.turns.key);
    const left = [codeOf(bench.leave(first))];
    // The removals of the first and the second entry must happen in one tick, so that they are sent as one batch.
    while (!isAdmitted(second)) await Promise.resolve();
    left.push(codeOf(bench.leave(second)));
    await third.turns.untilAdmitted();
    expect(await Promise.all(left)).to.deep.equal(['UNAVAILABLE', 'UNAVAILABLE']);
    const [front] = await bench.at.operator.keysUnder(`${first.spec.queue}/`);
    expect(front).to.equal(first.turns.key);
    safely(() => expect(isAdmitted(other)).to.equal(false));
    await bench.at.proxies[0].heal();
    expect(await third.turns.untilLost()).to.have.property('code', 'ENTRY_LOST');
    for (const position of [first, second]) await eventually('it is out', () => hasLeft(position));
    await other.turns.untilAdmitted();
  });

  it('is not granted when a client of the same process has just evicted this entry', async () => {
    const queue = freshQueue();
    const backend = bench.at.clients.backend({ hosts: bench.at.server.endpoint });
    const session = await backend.open(60_000, new AbortController().signal);
    const [first, second] = [await bench.enter(session, queue), await bench.enter(session, queue)];
    const { key } = second.turns;
    const order = await bench.at.operator.createRevisionOf(key);
    expect(await backend.evict?.(queue, { key, order })).to.equal(true);
    expect(await bench.leave(first)).to.equal(true);
    expect(await second.turns.untilLost()).to.have.property('code', 'ENTRY_LOST');
    safely(() => expect(isAdmitted(second)).to.equal(false));
    await session.close();
  });

  it('shares its requests with hundreds of other entries when holds are short', async () => {
    const COUNT = 300;
    const client = createLockClient(etcd({ ...etcdTransport(), hosts: bench.at.server.endpoint }));
    const name = freshQueue();
    const first = await client.acquire(name);
    const tokens: bigint[] = [];
    const drained = Array.from({ length: COUNT }, () =>
      client.run(name, ({ token }) => {
        tokens.push(token);
      }),
    );
    const stand = async (): Promise<number> => (await bench.at.operator.keysUnder(`${name}/`)).length;
    await eventually('all stand in line', async () => (await stand()) === COUNT + 1);
    const before = await handledTxns(bench.at.server.endpoint);
    await first.release();
    await Promise.all(drained);
    const requests = (await handledTxns(bench.at.server.endpoint)) - before;
    expect(tokens).to.have.length(COUNT);
    safely(() => expect(tokens).to.deep.equal([...tokens].sort((one, other) => Number(one - other))));
    expect(requests).to.be.below(COUNT / 10);
    await client.close();
  });
});

/** Removes an entry again, because an earlier removal may have got no reply. Returns whether the request succeeded. */
async function hasLeft({ session, spec }: QueuedEntry): Promise<boolean> {
  return (await codeOf(session.remove(spec.queue, spec.id))) === undefined;
}
