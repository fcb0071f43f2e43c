import { safely } from '@queuelock/conformance';
import { expect } from 'chai';
import { until } from '@queuelock/harness/services/until';
import { codeOf, eventually, freshQueue } from './clients.ts';
import { HandOffBench, type Place } from './handoff-bench.ts';

// As PROMISES states it.
const MAX_UNCONFIRMED_MS = 100;

describe('a session does not hand over', () => {
  const bench = new HandOffBench();

  /** So many entries of one session, which reaches the server by the first way. */
  async function entries(count: number): Promise<Place[]> {
    const queue = freshQueue();
    const session = await bench.at.clients.session({
      hosts: bench.at.proxies[0].endpoint,
      requestTimeoutMs: 1_000,
    });
    const places: Place[] = [];
    for (let i = 0; i < count; i += 1) places.push(await bench.enter(session, queue));
    await bench.untilQuiet(places);
    return places;
  }

  /** The removal of the first never arrives: nothing may tell the second that its turn has come. Later it does, and something does. */
  async function staysBehind([first, second]: readonly Place[]): Promise<void> {
    bench.at.proxies[0].toServer.blackhole();
    expect(await codeOf(bench.leave(first!))).to.equal('UNAVAILABLE');
    safely(() => expect(second!.turns.wasAdmitted).to.equal(false));
    await bench.at.proxies[0].heal();
    await eventually('the first is out', () => hasLeft(first!));
    await second!.turns.untilAdmitted();
  }

  it('from an entry whose key was read: a write that it guards would arrive after those of the next holder', async () => {
    const places = await entries(2);
    const [{ session, spec }] = places as [Place];
    expect(session.exposeKey?.(spec.queue, spec.id)).to.equal(true);
    await staysBehind(places);
  });

  it('once it was exported: whoever resumes it knows of no replaced entry', async () => {
    const places = await entries(2);
    expect(places[0]?.session.resumption).to.be.a('string');
    await staysBehind(places);
  });

  it(`while the oldest removal has been unanswered for more than ${MAX_UNCONFIRMED_MS} ms`, async () => {
    const [first, second, third] = (await entries(3)) as [Place, Place, Place];
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
    for (const place of [first, second]) await eventually('it is out', () => hasLeft(place));
    await third.turns.untilAdmitted();
  });

  it('and does not tell the key of one that has, until that is out of the store', async () => {
    const [first, second] = (await entries(2)) as [Place, Place];
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

/** Also where an earlier attempt has taken it out, of which no answer came. */
async function hasLeft({ session, spec }: Place): Promise<boolean> {
  return (await codeOf(session.remove(spec.queue, spec.id))) === undefined;
}
