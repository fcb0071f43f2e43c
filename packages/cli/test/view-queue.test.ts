import { expect } from 'chai';
import type { QueueEntry, QueueState } from '@queuelock/core';
import { clocksAhead } from '../src/view/clocks.ts';
import { happenings } from '../src/view/happenings.ts';
import { entryFacts, entryRow, positionedEntries } from '../src/view/positioned-entries.ts';

function entry(order: number, more: Partial<QueueEntry> = {}): QueueEntry {
  const reported = { owner: `owner-${String(order)}`, metadata: {}, value: '', permits: 1, limit: 1 };
  return {
    key: `q/${String(order)}`,
    order: BigInt(order),
    shared: false,
    ...reported,
    holds: [],
    heard: [],
    answers: [],
    ...more,
  };
}

function queue(...entries: readonly QueueEntry[]): QueueState {
  return { status: 'live', name: 'q', entries };
}

describe('the entries of a queue that commands print', () => {
  it('have position 0 if they hold, and positions from 1 on if they wait', () => {
    const places = positionedEntries(queue(entry(1, { shared: true }), entry(2, { shared: true }), entry(3)));
    expect(places.map(({ position, holds }) => [position, holds])).to.deep.equal([
      [0, true],
      [0, true],
      [1, false],
    ]);
  });

  it('contain what the client of each entry has published, and nothing else', () => {
    const [known, foreign] = positionedEntries(
      queue(
        entry(1, { host: 'web\n1', pid: 7, since: 5_000, metadata: { job: 'a' } }),
        entry(2, { owner: '' }),
      ),
    );
    const cells = ['0', 'holds', 'owner-1', 'web\\u000a1', '7', '1m00s', '99', 'job=a'];
    expect(entryRow(known!, 65_000, 99n).cells).to.deep.equal(cells);
    expect(entryRow(foreign!, 65_000).cells).to.deep.equal(['1', 'waits', '-', '', '', '', '', '']);
    expect(entryFacts(known!, 65_000)).to.include({ position: 0, state: 'holds', ageMs: 60_000, order: 1n });
    expect(JSON.stringify({ ...entryFacts(foreign!, 65_000), order: '' })).to.not.match(/ageMs|host|since/);
  });
});

describe('the events that commands derive from two states of a queue', () => {
  const reports = (before: QueueState | undefined, now: QueueState): string[] =>
    happenings(before, now).map(
      ({ ev, entry: { owner }, position, holds }) => `${ev} ${owner} ${String(position)} ${String(holds)}`,
    );

  it('are an event `present` for each entry when there is no earlier state', () => {
    expect(reports(undefined, queue(entry(1), entry(2)))).to.deep.equal([
      'present owner-1 0 true',
      'present owner-2 1 false',
    ]);
  });

  it('report the entries that left, were granted or joined between the states', () => {
    const before = queue(entry(1), entry(2), entry(3));
    expect(reports(before, queue(entry(2), entry(3), entry(4)))).to.deep.equal([
      'left owner-1 0 true',
      'granted owner-2 0 true',
      'joined owner-4 2 false',
    ]);
    expect(reports(before, queue(entry(1), entry(3)))).to.deep.equal(['left owner-2 1 false']);
    expect(reports(queue(), queue(entry(9)))).to.deep.equal([
      'joined owner-9 0 true',
      'granted owner-9 0 true',
    ]);
  });

  it('include an event `changed` only for an entry whose value has changed', () => {
    expect(reports(queue(entry(1)), queue(entry(1, { value: 'new' })))).to.deep.equal([
      'changed owner-1 0 true',
    ]);
    expect(reports(queue(entry(1)), queue(entry(1)))).to.deep.equal([]);
  });

  it('include a departure and a join when an entry with the same key has another order number', () => {
    const again = entry(5, { key: 'q/1' });
    expect(reports(queue(entry(1)), queue(again))).to.deep.equal([
      'left owner-1 0 true',
      'joined owner-5 0 true',
      'granted owner-5 0 true',
    ]);
  });
});

describe('the clocks of machines', () => {
  it('are reported as wrong when an entry has a join time in the future', () => {
    const entries = [
      entry(1, { host: 'a', since: 10_900 }),
      entry(2, { host: 'b', since: 13_000 }),
      entry(3, { host: 'b', since: 15_000 }),
      entry(4),
    ];
    const findings = clocksAhead([queue(...entries)], 10_000);
    expect(findings.map(({ level, about }) => [level, about])).to.deep.equal([['warning', 'host b']]);
    expect(findings[0]!.text).to.contain('5.0s');
  });
});
