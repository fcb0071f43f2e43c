import { expect } from 'chai';
import { virtualClock } from '@queuelock/memory';
import { DepartureCounter, type FoundQueue } from '../src/kit/departure-counter.ts';

const found = (depth: number, joined: number): FoundQueue => ({ name: 'q', depth, joined, front: 1n });

describe('the count of departures between two reads', () => {
  it('includes entries of the first read that have left, and entries that joined and left between the reads', () => {
    const departures = new DepartureCounter(virtualClock());
    const left = (depth: number, joined: number): number | undefined =>
      departures.listed([found(depth, joined)])[0]?.left;
    expect(left(3, 10)).to.equal(0);
    expect(left(1, 10)).to.equal(2);
    expect(left(2, 15)).to.equal(6);
  });

  it('includes all entries of the first read when the store has created the queue again', () => {
    const departures = new DepartureCounter(virtualClock());
    departures.listed([found(3, 10)]);
    expect(departures.listed([found(1, 2)])[0]?.left).to.equal(4);
  });

  it('is forgotten when the queue was not found for a minute', async () => {
    const clock = virtualClock();
    const departures = new DepartureCounter(clock);
    departures.listed([found(3, 10)]);
    departures.listed([found(1, 10)]);
    await clock.advance(60_001);
    departures.listed([]);
    expect(departures.listed([found(1, 10)])[0]?.left).to.equal(0);
  });
});
