import { expect } from 'chai';
import { virtualClock, type VirtualClock } from '@queuelock/memory';
import { HeadLeaseTimer } from '../src/turn/head-lease-timer.ts';

describe('the timer for the lease of the first entry', () => {
  const requested: (readonly [at: number, queues: readonly string[]])[] = [];
  let clock: VirtualClock;
  let ends: () => Promise<readonly (number | null)[]>;
  let wanted: ReadonlySet<string>;

  function fronts(more: { readonly minDelayMs?: number } = {}): HeadLeaseTimer {
    return new HeadLeaseTimer({
      clock: { ...clock, random: () => 0.5 },
      readLeaseEnds: async (queues) => {
        requested.push([clock.now(), queues]);
        return ends();
      },
      isWanted: (queue) => wanted.has(queue),
      ...more,
    });
  }

  beforeEach(() => {
    requested.length = 0;
    clock = virtualClock();
    ends = async () => [null];
    wanted = new Set(['a', 'b']);
  });

  it('reads in one request all queues whose first lease may have expired', async () => {
    const reads = fronts();
    reads.watch('a', 100, 0);
    reads.watch('b', 90.5, 0);
    reads.watch('a', 200, 0);
    ends = async () => [null, null];
    await clock.advance(91);
    expect(requested).to.deep.equal([]);
    clock.stall(10);
    await clock.advance(0);
    expect(requested).to.deep.equal([[101, ['a', 'b']]]);
    await clock.advance(1_000);
    expect(requested).to.have.length(1);
  });

  for (const endsInMs of [NaN, Infinity, 1e305])
    it(`reads only after one day when a store returns a remaining time of ${endsInMs} ms`, async () => {
      const reads = fronts();
      reads.watch('a', endsInMs, 0);
      expect(clock.timerCount).to.equal(1);
      await clock.advance(86_400_000);
      expect([requested.length, clock.timerCount]).to.deep.equal([0, 1]);
      await clock.advance(10);
      expect([requested.length, clock.timerCount]).to.deep.equal([1, 0]);
    });

  it('delays a read by up to 100 ms when other entries are ahead of the waiter', async () => {
    for (const [ahead, at] of [
      [2, 105],
      [1_000, 151],
    ] as const) {
      requested.length = 0;
      clock = virtualClock();
      fronts().watch('a', 100, ahead);
      await clock.advance(at - 1);
      expect(requested).to.deep.equal([]);
      await clock.advance(1);
      expect(requested).to.deep.equal([[at, ['a']]]);
    }
  });

  it('reads again when the next first lease may have expired, or 500 ms after a failure', async () => {
    fronts().watch('a', 0, 0);
    ends = async () => [10];
    await clock.advance(1);
    ends = () => Promise.reject(new Error('no answer'));
    await clock.advance(61);
    ends = async () => [null];
    await clock.advance(551);
    await clock.advance(10_000);
    expect(requested.map(([at]) => at)).to.deep.equal([1, 62, 613]);
  });

  it('reads no queue that is empty or has no waiters', async () => {
    const reads = fronts();
    reads.watch('a', null, 0);
    reads.watch('b', 10, 0);
    wanted = new Set(['a']);
    await clock.advance(1_000);
    reads.watch('a', 10, 0);
    reads.close();
    await clock.advance(1_000);
    expect(requested).to.deep.equal([]);
  });

  it('waits at least `minDelayMs` before it reads a queue with an expired lease', async () => {
    fronts({ minDelayMs: 20 }).watch('a', 0, 0);
    await clock.advance(19);
    expect(requested).to.deep.equal([]);
    await clock.advance(1);
    expect(requested).to.have.length(1);
  });
});
