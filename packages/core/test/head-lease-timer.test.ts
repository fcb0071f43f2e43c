import { expect } from 'chai';
import { virtualClock, type VirtualClock } from '@queuelock/memory';
import { HeadLeaseTimer } from '../src/turn/head-lease-timer.ts';

describe('a waiter behind a lease that may expire without a notification', () => {
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

  it('reads when the first lease may have expired, for all such queues at once', async () => {
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

  it('reads later when more entries are ahead, whose clients notify it, but at most 100 ms later', async () => {
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

  it('reads again when the next lease may have expired, and soon after a failed read', async () => {
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

  it('does not read a queue without waiters or without a head, or after it was closed', async () => {
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

  it('waits while another client removes the expired entry', async () => {
    fronts({ minDelayMs: 20 }).watch('a', 0, 0);
    await clock.advance(19);
    expect(requested).to.deep.equal([]);
    await clock.advance(1);
    expect(requested).to.have.length(1);
  });
});
