import { expect } from 'chai';
import { drawFrame, type View } from '../src/demo/frame.ts';
import type { HistoryEvent } from '../src/demo/history.ts';
import type { Paper } from '../src/terminal/terminal.ts';

const ms = (value: number): string => String(BigInt(value) * 1_000_000n);
const event = (at: number, id: string, ev: HistoryEvent['ev'], extra: object = {}): HistoryEvent => ({
  t: ms(at),
  id,
  ev,
  name: 'q',
  n: 1,
  ...extra,
});
const entry = (owner: string, order: bigint) => ({
  key: `q/${String(order)}`,
  order,
  shared: false,
  owner,
  metadata: {},
  value: owner,
  permits: 1,
  limit: 1,
  holds: [],
  heard: [],
  answers: [],
});

const view: View = {
  queue: { status: 'live', name: 'q', entries: [entry('c1', 1n), entry('c2', 2n), entry('c3', 3n)] },
  history: [
    event(0, 'c1', 'requesting'),
    event(0, 'c1', 'enqueued'),
    event(0, 'c1', 'acquired'),
    event(500, 'c2', 'enqueued'),
    event(600, 'c3', 'enqueued'),
  ],
  contenders: 3,
  start: ms(0),
  now: ms(1_000),
  over: false,
  provenUntil: (id) => (id === 'c1' ? ms(2_400) : undefined),
};
const paper: Paper = { columns: 80, rows: 24, colours: false, blocks: true };
const linesOf = (changes: Partial<View>, size: Partial<Paper> = {}): string[] =>
  drawFrame({ ...view, ...changes }, { ...paper, ...size }).split('\n');
const lineOf = (lines: readonly string[], start: string): string =>
  lines.find((line) => line.startsWith(start)) ?? '';

describe('the terminal frame of queuelock demo', () => {
  it('shows the holder with its remaining time', () => {
    expect(lineOf(linesOf({}), '  1')).to.equal('  1 c1  #1  holds 1.4 s proven ■■■■■■■');
  });

  it('shows a crashed holder and the earliest time of its expiry', () => {
    const crashed = event(900, 'c1', 'crashed', { until: ms(1_700) });
    expect(lineOf(linesOf({ history: [...view.history, crashed] }), '  1')).to.equal(
      '  1 c1  #1  is dead 0.7 s until it may expire ■■■■',
    );
  });

  it('shows a timeline for every contender', () => {
    const lines = linesOf({});
    expect(lineOf(lines, 'c1')).to.match(/^c1 {2}holds {3}█{21}$/);
    expect(lineOf(lines, 'c2')).to.match(/^c2 {2}waits {13}░{11}$/);
  });

  it('shows that the server does not respond', () => {
    expect(linesOf({ queue: { ...view.queue, status: 'stale' } })[0]).to.contain(
      'the server does not respond',
    );
  });

  it('keeps the same number of lines while contenders join and end', () => {
    const heights = [
      linesOf({}),
      linesOf({ history: [] }),
      linesOf({ queue: { ...view.queue, entries: [] } }),
      linesOf({ queue: { ...view.queue, entries: [entry('c1', 1n)] } }),
    ].map(({ length }) => length);
    expect(new Set(heights).size).to.equal(1);
  });

  for (const [columns, rows] of [
    [80, 24],
    [40, 24],
    [20, 14],
    [5, 14],
    [1, 14],
  ] as const) {
    it(`fits into ${String(columns)} columns and ${String(rows)} rows`, () => {
      const lines = linesOf({ now: ms(9_000) }, { columns, rows });
      expect(Math.max(...lines.map((line) => Array.from(line).length))).to.be.lessThan(Math.max(columns, 1));
      expect(lines.length).to.be.lessThan(rows);
    });
  }

  it('shows how many entries are hidden when the queue does not fit', () => {
    expect(linesOf({}, { rows: 11 })).to.include('    and 2 more');
  });

  it('contains only colours as control sequences, and none at all without colours', () => {
    expect(drawFrame(view, paper)).to.not.match(/\u001B/);
    const coloured = drawFrame(view, { ...paper, colours: true });

    expect(coloured.replace(/\u001B\[\d+m/g, '')).to.equal(drawFrame(view, paper));
  });

  it('uses no block characters if the terminal does not support them', () => {
    expect(drawFrame(view, { ...paper, blocks: false })).to.match(/^[\x20-\x7e\n]*$/);
  });
});
