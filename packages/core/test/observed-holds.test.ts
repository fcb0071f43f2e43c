import { virtualClock, type VirtualClock } from '@queuelock/memory';
import { expect } from 'chai';
import type { HoldTimes, QueueEntry, QueueState } from '../src/index.ts';
import { SeenHolds } from '../src/turn/seen-holds.ts';

type Entry = QueueState['entries'][number];
const [ann, ben, cat] = ['ann', 'ben', 'cat'].map((id, at): QueueEntry => ({
  key: `x/${at}`,
  order: BigInt(at),
  id,
  owner: id,
  value: '',
  shared: false,
  metadata: {},
  permits: 1,
  limit: 1,
  holds: [],
  heard: [],
  answers: [],
})) as [Entry, Entry, Entry];

describe('the observed hold durations', () => {
  let clock: VirtualClock;
  let seen: SeenHolds;

  beforeEach(() => {
    clock = virtualClock();
    seen = new SeenHolds(clock);
  });

  async function read(
    ms: number,
    entries: readonly Entry[],
    status: QueueState['status'] = 'live',
  ): Promise<void> {
    await clock.advance(ms);
    seen.readState({ status, name: 'x', entries });
  }

  function summary({ typicalMs, heldMs }: HoldTimes = seen.times): readonly [number | undefined, object] {
    return [typicalMs, Object.fromEntries(heldMs!)];
  }

  it('are empty before the first snapshot', () => {
    expect(summary()).to.deep.equal([undefined, {}]);
  });

  it('count a hold from its admission to its end, not from its enqueue', async () => {
    await read(0, []);
    await read(10, [ann]);
    await read(5, [ann, ben]);
    await read(15, [ben]);
    expect(summary()).to.deep.equal([20, { 'x/1': 0 }]);
    await clock.advance(7);
    expect(summary()).to.deep.equal([20, { 'x/1': 7 }]);
  });

  it('have the median of the last nine holds as their typical duration', async () => {
    await read(0, []);
    for (const ms of [900, 900, 900, 900, 900, 1, 2, 3, 4, 5]) {
      await read(1, [ann]);
      await read(ms, []);
    }
    expect(summary()).to.deep.equal([5, {}]);
  });

  it('ignore a hold whose start was not observed', async () => {
    await read(0, [ann]);
    await read(10, []);
    expect(summary()).to.deep.equal([undefined, {}]);
  });

  it('ignore a hold that started or ended between two snapshots with a gap between them', async () => {
    await read(0, []);
    await read(0, [ann, ben]);
    await read(10, [ann, ben], 'stale');
    await read(10, [ben]);
    expect(summary()).to.deep.equal([undefined, { 'x/1': 0 }]);
    await read(10, []);
    expect(summary()).to.deep.equal([undefined, {}]);
  });

  it('include a hold that exists both before and after a gap between snapshots', async () => {
    await read(0, []);
    await read(0, [ann]);
    await read(10, [ann], 'stale');
    await read(10, [ann]);
    await read(10, []);
    expect(summary()).to.deep.equal([30, {}]);
  });

  it('distinguish entries with the same key', async () => {
    await read(0, []);
    await read(0, [ann]);
    await read(10, [{ ...ann, order: 9n }]);
    expect(summary()).to.deep.equal([10, { 'x/0': 0 }]);
  });

  it('count concurrent readers separately', async () => {
    const [one, other] = [ann, ben].map((entry) => ({ ...entry, shared: true })) as [Entry, Entry];
    await read(0, []);
    await read(0, [one, other, cat]);
    await read(10, [other, cat]);
    await read(10, [cat]);
    expect(summary()).to.deep.equal([20, { 'x/2': 0 }]);
  });
});
