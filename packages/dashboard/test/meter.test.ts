import type { ListedQueueSnapshot } from '@queuelock/bridge/wire';
import { expect } from 'chai';
import { visibleRows, FIRST_CHOICE, sortedBy, type SortKey } from '../src/page/model/visible-rows.ts';
import { EMPTY_METER, metered, rowsOf, sumOf, type QueueRow } from '../src/page/model/meter.ts';

function listed(name: string, depth: number, departures: number): ListedQueueSnapshot {
  return { name, depth, departures, front: '1', frontAt: 500 };
}

function rowOf(name: string, row: Partial<QueueRow> = {}): QueueRow {
  return {
    name,
    depth: 1,
    handOffsPerS: 0,
    heldMs: 0,
    heldLonger: false,
    turnMs: undefined,
    waitMs: undefined,
    ...row,
  };
}

describe('rates of queues on the dashboard', () => {
  const after = (...reads: readonly (readonly [at: number, left: number])[]): QueueRow => {
    const meter = reads.reduce(
      (before, [at, left]) => metered(before, { at, queues: [listed('a', 4, left)] }),
      EMPTY_METER,
    );
    return rowsOf(meter, reads.at(-1)![0])[0]!;
  };

  it('are 0 for hand-offs, and unknown for waits, when only one snapshot has arrived', () => {
    const { handOffsPerS, turnMs, waitMs, heldMs } = after([1_000, 7]);
    expect([handOffsPerS, turnMs, waitMs, heldMs]).to.deep.equal([0, undefined, undefined, 500]);
  });

  it('are computed from departures: hand-offs per second, time between departures, expected wait', () => {
    const { handOffsPerS, turnMs, waitMs } = after([1_000, 7], [3_000, 11]);
    expect([handOffsPerS, turnMs, waitMs]).to.deep.equal([2, 500, 2_000]);
  });

  it('count only the last ten seconds', () => {
    const { handOffsPerS } = after([0, 0], [10_000, 100], [20_000, 110], [25_000, 115]);
    expect(handOffsPerS).to.equal(1);
  });

  it('are 0 again when the departure count of a queue becomes smaller', () => {
    expect(after([1_000, 50], [2_000, 3]).handOffsPerS).to.equal(0);
  });

  it('are forgotten when their queue is missing in the next snapshot', () => {
    const before = metered(EMPTY_METER, { at: 0, queues: [listed('a', 1, 0), listed('b', 1, 0)] });
    expect(
      rowsOf(metered(before, { at: 1, queues: [listed('b', 1, 0)] }), 1).map(({ name }) => name),
    ).to.deep.equal(['b']);
  });

  it('are summed over all queues, and the sum names the queue with the longest expected wait', () => {
    const rows = [
      rowOf('a', { depth: 3, waitMs: 5 }),
      rowOf('b', { depth: 4, waitMs: 9, handOffsPerS: 2 }),
      rowOf('c'),
    ];
    expect(sumOf(rows)).to.deep.equal({ entries: 8, handOffsPerS: 2, slowest: rows[1] });
  });
});

describe('visible rows of queues', () => {
  const rows = [
    rowOf('b', { depth: 2, handOffsPerS: 9, heldMs: 1, turnMs: 5, waitMs: 3 }),
    rowOf('a', { depth: 2, handOffsPerS: 1, heldMs: 7, waitMs: 1 }),
    rowOf('C', { depth: 5, handOffsPerS: 1, heldMs: 3, turnMs: 9 }),
  ];
  const orders: readonly (readonly [SortKey, string])[] = [
    ['depth', 'Cab'],
    ['hand-offs', 'bCa'],
    ['held', 'aCb'],
    ['turn', 'Cba'],
    ['wait', 'baC'],
    ['name', 'Cab'],
  ];
  for (const [sort, order] of orders)
    it(`are in the order ${order} when sorted by ${sort}`, () => {
      expect(
        visibleRows(rows, { ...FIRST_CHOICE, sort })
          .map(({ name }) => name)
          .join(''),
      ).to.equal(order);
    });

  it('are in reverse order when the title of their column is clicked again', () => {
    const once = sortedBy(FIRST_CHOICE, 'name');
    expect([once.reverse, sortedBy(once, 'name').reverse]).to.deep.equal([false, true]);
    expect(
      visibleRows(rows, sortedBy(once, 'name'))
        .map(({ name }) => name)
        .join(''),
    ).to.equal('baC');
  });

  it('include only queues whose name contains the search text, ignoring case', () => {
    expect(visibleRows(rows, { ...FIRST_CHOICE, filter: 'c' }).map(({ name }) => name)).to.deep.equal(['C']);
  });
});
