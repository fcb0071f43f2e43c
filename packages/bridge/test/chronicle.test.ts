import { expect } from 'chai';
import type { QueueEntry, QueueState } from '@queuelock/core';
import { Chronicle } from '../src/queue/chronicle.ts';

function entry(key: string, order: number): QueueEntry {
  return {
    key,
    order: BigInt(order),
    shared: false,
    owner: key,
    metadata: {},
    value: '',
    permits: 1,
    limit: 1,
    holds: [],
    heard: [],
    answers: [],
  };
}

function live(...entries: readonly QueueEntry[]): QueueState {
  return { status: 'live', name: 'q', entries };
}

const a = entry('a', 1);
const b = entry('b', 2);
const stale: QueueState = { status: 'stale', name: 'q', entries: [a] };

describe('the chronicle of a queue', () => {
  it('records joins, grants and departures with their times', () => {
    const seen = new Chronicle(0);
    seen.record(live(), 0);
    seen.record(live(a), 10);
    seen.record(live(a, b), 20);
    seen.record(live(b), 30);
    expect(seen.spans).to.deep.equal([
      { key: 'a', order: '1', owner: 'a', shared: false, joinedAt: 10, heldAt: 10, leftAt: 30 },
      { key: 'b', order: '2', owner: 'b', shared: false, joinedAt: 20, heldAt: 30 },
    ]);
    expect(seen.handOffs).to.equal(1);
    expect(seen.typicalHoldMs).to.equal(20);
  });

  it('marks entries that existed before the observer, and does not measure their holds', () => {
    const seen = new Chronicle(0);
    seen.record(live(a, b), 5);
    seen.record(live(b), 30);
    expect(seen.spans[0]).to.include({ joinedEarlier: true, heldEarlier: true, leftAt: 30 });
    expect(seen.spans[1])
      .to.include({ joinedEarlier: true, heldAt: 30 })
      .and.not.have.property('heldEarlier');
    expect(seen.typicalHoldMs).to.equal(undefined);
  });

  it('records when the store could not be read, and does not measure holds that ended meanwhile', () => {
    const seen = new Chronicle(0);
    seen.record(live(a), 0);
    seen.record(stale, 10);
    seen.record(stale, 15);
    expect(seen.gaps).to.deep.equal([{ from: 10 }]);
    seen.record(live(b), 20);
    expect(seen.gaps).to.deep.equal([{ from: 10, to: 20 }]);
    expect(seen.typicalHoldMs).to.equal(undefined);
    expect(seen.handOffs).to.equal(1);
  });

  it('distinguishes two entries with the same key', () => {
    const seen = new Chronicle(0);
    seen.record(live(a), 0);
    seen.record(live({ ...a, order: 9n }), 10);
    expect(seen.spans.map(({ order, leftAt }) => [order, leftAt])).to.deep.equal([
      ['1', 10],
      ['9', undefined],
    ]);
  });

  it('marks a departure as an eviction, whether the eviction record or the departure arrives first', () => {
    const eviction = { entry: a, kind: 'evicted', by: 'op', reason: 'hangs', at: 0 } as const;
    const seen = new Chronicle(0);
    seen.record(live(a), 0);
    seen.explain([eviction]);
    seen.record(live(), 10);
    seen.explain([eviction]);
    expect(seen.spans[0]?.evicted).to.deep.equal({ kind: 'evicted', by: 'op', reason: 'hangs' });
  });

  it('keeps only the latest 200 departed entries and 20 outages', () => {
    const seen = new Chronicle(0);
    for (let order = 1; order <= 10_000; order += 1) seen.record(live(entry('k', order)), order);
    expect(seen.spans).to.have.lengthOf(201);
    for (let at = 1; at < 100; at += 1) {
      seen.record(stale, 20_000 + at);
      seen.record(live(), 20_000 + at);
    }
    expect(seen.gaps).to.have.lengthOf(20);
  });
});
