import { safely } from '@queuelock/conformance';
import { expect } from 'chai';
import { until } from '@queuelock/harness/services/until';
import { codeOf, eventually, freshQueue } from './clients.ts';
import { HandOffBench, type QueuedEntry } from './handoff-bench.ts';

// The time in milliseconds, stated in PROMISES, after which an unconfirmed removal prevents further early hand-overs.
const MAX_UNCONFIRMED_MS = 100;

describe('an early hand-over within an etcd session', () => {
  const bench = new HandOffBench();

  /** Enqueues entries of one session that uses the first proxy. */
  async function entries(count: number): Promise<QueuedEntry[]> {
    const queue = freshQueue();
    const session = await bench.at.clients.session({
      hosts: bench.at.proxies[0].endpoint,
      requestTimeoutMs: 1_000,
    });
    const positions: QueuedEntry[] = [];
    for (let i = 0; i < count; i += 1) positions.push(await bench.enter(session, queue));
    await bench.untilQuiet(positions);
    return positions;
  }

  /** The removal of the first entry never arrives, so the second must not be admitted. A later removal admits it. */
  async function staysBehind([first, second]: readonly QueuedEntry[]): Promise<void> {
    bench.at.proxies[0].toServer.blackhole();
    expect(await codeOf(bench.leave(first!))).to.equal('UNAVAILABLE');
    safely(() => expect(second!.turns.wasAdmitted).to.equal(false));
    await bench.at.proxies[0].heal();
    await eventually('the first is out', () => hasLeft(first!));
    await second!.turns.untilAdmitted();
  }

  it('does not start when the caller has read the holder’s key: a late write that compares this key would succeed after writes of the next holder', async () => {
    const positions = await entries(2);
    const [{ session, spec }] = positions as [QueuedEntry];
    expect(session.exposeKey?.(spec.queue, spec.id)).to.equal(true);
    await staysBehind(positions);
  });

  it('does not start after the session was exported: the process that resumes it does not know of a replaced entry', async () => {
    const positions = await entries(2);
    expect(positions[0]?.session.resumption).to.be.a('string');
    await staysBehind(positions);
  });

  it(`does not start while the oldest removal has been unconfirmed for more than ${MAX_UNCONFIRMED_MS} ms`, async () => {
    const [first, second, third] = (await entries(3)) as [QueuedEntry, QueuedEntry, QueuedEntry];
    bench.at.proxies[0].toServer.blackhole();
    const left = codeOf(bench.leave(first));
    await second.turns.untilAdmitted();
    const handedOverAt = performance.now();
    const isLate = async (): Promise<void> => {
      if (performance.now() - handedOverAt <= MAX_UNCONFIRMED_MS) throw new Error('not yet');
    };
    await until(isLate, { what: 'the removal is late', withinMs: 15_000 });
    const leftToo = codeOf(bench.leave(second));
    expect(await Promise.all([left, leftToo])).to.deep.equal(['UNAVAILABLE', 'UNAVAILABLE']);
    safely(() => expect(third.turns.wasAdmitted).to.equal(false));
    await bench.at.proxies[0].heal();
    for (const position of [first, second]) await eventually('it is out', () => hasLeft(position));
    await third.turns.untilAdmitted();
  });

  it('hides the key of the next holder until the removal of its predecessor commits', async () => {
    const [first, second] = (await entries(2)) as [QueuedEntry, QueuedEntry];
    const { session, spec } = first;
    bench.at.proxies[0].toServer.blackhole();
    const left = codeOf(bench.leave(first));
    await second.turns.untilAdmitted();
    expect(session.exposeKey?.(spec.queue, spec.id)).to.equal(false);
    expect(await left).to.equal('UNAVAILABLE');
    expect(session.exposeKey?.(spec.queue, spec.id)).to.equal(false);
    await bench.at.proxies[0].heal();
    await eventually('it is out', () => hasLeft(first));
    expect(session.exposeKey?.(spec.queue, spec.id)).to.equal(true);
  });
});

/** Removes an entry, also if an earlier attempt without a reply has removed it. */
async function hasLeft({ session, spec }: QueuedEntry): Promise<boolean> {
  return (await codeOf(session.remove(spec.queue, spec.id))) === undefined;
}
