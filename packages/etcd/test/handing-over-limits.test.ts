import { safely } from '@queuelock/conformance';
import { expect } from 'chai';
import { until } from '@queuelock/harness/services/until';
import { codeOf, eventually, freshQueue } from './clients.ts';
import { HandOffBench, type QueuedEntry } from './handoff-bench.ts';

// The limit in milliseconds that the page PROMISES states: if a removal has no confirmation for longer, no further hold of the session begins early,
// before the removal of its predecessor is confirmed.
const MAX_UNCONFIRMED_MS = 100;

describe('an early hand-off within an etcd session', () => {
  const bench = new HandOffBench();

  /** Enqueues `count` entries of one session, which is connected through the first of the two proxies. */
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

  /**
   * Blocks all requests, so that the removal of the first entry cannot reach the server, and checks that the second entry is not admitted. Then
   * unblocks the requests, repeats the removal, and checks that the second entry is admitted.
   */
  async function staysBehind([first, second]: readonly QueuedEntry[]): Promise<void> {
    bench.at.proxies[0].toServer.blackhole();
    expect(await codeOf(bench.leave(first!))).to.equal('UNAVAILABLE');
    safely(() => expect(second!.turns.wasAdmitted).to.equal(false));
    await bench.at.proxies[0].heal();
    await eventually('the first is out', () => hasLeft(first!));
    await second!.turns.untilAdmitted();
  }

  it('does not start after the caller has read the holder’s key', async () => {
    const positions = await entries(2);
    const [{ session, spec }] = positions as [QueuedEntry];
    expect(session.exposeKey?.(spec.queue, spec.id)).to.equal(true);
    await staysBehind(positions);
  });

  it('does not start after the session was exported', async () => {
    const positions = await entries(2);
    expect(positions[0]?.session.resumption).to.be.a('string');
    await staysBehind(positions);
  });

  it(`does not start while a removal has been unconfirmed for more than ${MAX_UNCONFIRMED_MS} ms`, async () => {
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

  it("hides the holder's key from the caller until the removal of the holder's entry is confirmed", async () => {
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

/** Removes an entry again, because an earlier removal may have got no reply. Returns whether the request succeeded. */
async function hasLeft({ session, spec }: QueuedEntry): Promise<boolean> {
  return (await codeOf(session.remove(spec.queue, spec.id))) === undefined;
}
