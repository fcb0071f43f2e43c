import { toPrintable, type QueueState, type QueuesState } from '@queuelock/core';
import type { Span } from '../terminal/paint.ts';
import type { Paper } from '../terminal/terminal.ts';
import type { QueueRow } from './meter.ts';
import { ENTRY_COLUMNS, entryRow, positionedEntries } from './positioned-entries.ts';
import { tableLines, type Column, type Row } from './table.ts';
import { count, counted, duration, fit, timeOfDay, widthOf } from './text.ts';
import { cursorOf, type SortKey, type TopState } from './top-state.ts';

/** All data that a frame of `queuelock top` shows. */
export interface TopView {
  readonly storeLabel: string;
  readonly state: TopState;
  readonly status: QueuesState['status'];
  /**
   * Error because of which the data is out of date. `staleMs` is the time in milliseconds since it was up to
   * date.
   */
  readonly error: string | undefined;
  readonly staleMs: number;
  /** Rows of all queues, including those that the filter hides. */
  readonly rows: readonly QueueRow[];
  /** The queues that match the filter, in the order in which they are shown. */
  readonly chosen: readonly QueueRow[];
  /** State of the queue that the user has opened, if any. */
  readonly opened: QueueState | undefined;
  /** Time of day in milliseconds since 1970. */
  readonly now: number;
}

// Number of screen rows outside of the list of queues: two at the top, a blank row, the column titles, and
// the keys at the bottom.
const FIXED_ROWS = 5;

/** Returns how many rows of the list of queues fit on the screen. */
export function pageOf({ rows }: Pick<Paper, 'rows'>): number {
  return Math.max(1, rows - FIXED_ROWS);
}

/** Returns the lines of the screen, at most as many as it has rows. */
export function topLines(view: TopView, paper: Paper): readonly (readonly Span[])[] {
  const width = paper.columns;
  const body: readonly (readonly Span[])[] = view.state.help
    ? HELP
    : view.state.opened === undefined
      ? list(view, paper)
      : queue(view, paper);
  const top: Span[][] = [title(view, width), summary(view, width), []];
  const room = Math.max(0, paper.rows - top.length - 1);
  const lines = [...top, ...body.slice(0, room)];
  const blank = Array.from({ length: Math.max(0, paper.rows - lines.length - 1) }, (): Span[] => []);
  const keys: Span[] = [[keysOf(view.state), 'dim']];
  return [...lines, ...blank, keys].slice(0, paper.rows).map((line) => clip(line, width));
}

function clip(line: readonly Span[], width: number): readonly Span[] {
  let left = width;
  return line.map((span): Span => {
    const text = textOf(span);
    const cut = widthOf(text) > left ? fit(text, left) : text;
    left -= widthOf(cut);
    return typeof span === 'string' ? cut : [cut, span[1]];
  });
}

function title({ storeLabel, now }: TopView, width: number): Span[] {
  const time = timeOfDay(now).slice(0, 8);
  const name = fit(`queuelock top  ${storeLabel}`, Math.max(0, width - time.length - 2));
  return [[name, 'bold'], '  ', time];
}

function summary({ status, error, staleMs, rows }: TopView, width: number): Span[] {
  const entries = rows.reduce((sum, { depth }) => sum + depth, 0);
  const perS = rows.reduce((sum, { handOffsPerS }) => sum + handOffsPerS, 0);
  const sum = `${counted(rows.length, 'queue')}   ${counted(entries, 'entry', 'entries')}   ${rate(perS)} hand-offs/s`;
  if (status === 'live') return [fit(sum, width)];
  const why = error === undefined ? '' : `: ${error}`;
  const text =
    status === 'connecting'
      ? `the server has not responded yet${why}`
      : `the server does not respond, this is the state of ${duration(staleMs)} ago${why}`;
  return [
    [fit(error === undefined && status === 'connecting' ? 'connecting' : toPrintable(text), width), 'red'],
  ];
}

const SORTED: Readonly<Record<SortKey, number>> = { name: 0, depth: 1, 'hand-offs': 2, held: 3, wait: 5 };
const COLUMNS: readonly Column[] = [
  { title: 'QUEUE', minWidth: 10 },
  { title: 'ENTRIES', align: 'right' },
  { title: 'HAND-OFFS/S', align: 'right' },
  { title: 'HELD', align: 'right' },
  { title: 'TURN', align: 'right' },
  { title: 'WAIT', align: 'right' },
];

function list({ state, status, chosen }: TopView, paper: Paper): Span[][] {
  if (status === 'connecting') return [];
  if (chosen.length === 0)
    return [[state.filter === '' ? 'no queue is in use' : 'no queue name contains the filter']];
  const names = chosen.map(({ name }) => name);
  const cursor = cursorOf(state, names);
  const page = pageOf(paper);
  const first = Math.max(0, Math.min(cursor - Math.floor(page / 2), chosen.length - page));
  const rows = chosen.slice(first, first + page).map(listRow);
  const columns = COLUMNS.map((column, at) =>
    at === SORTED[state.sort] ? { ...column, title: column.title + (state.reverse ? '^' : '*') } : column,
  );
  const width = Math.max(0, paper.columns - 2);
  return tableLines(columns, rows, width).map((line, at) => {
    const isCursor = at === cursor - first + 1;
    return isCursor ? [['> ', 'bold'], ...line.map((span): Span => [textOf(span), 'bold'])] : ['  ', ...line];
  });
}

function textOf(span: Span): string {
  return typeof span === 'string' ? span : span[0];
}

/** Formats a queue as a row of the list of queues. */
export function listRow({ name, depth, handOffsPerS, heldMs, heldLonger, turnMs, waitMs }: QueueRow): Row {
  return {
    cells: [
      toPrintable(name),
      count(depth),
      rate(handOffsPerS),
      `${heldLonger ? '>' : ''}${duration(heldMs)}`,
      turnMs === undefined ? '-' : duration(turnMs),
      waitMs === undefined ? '-' : duration(waitMs),
    ],
  };
}

/** Columns of the list of queues, with their titles. */
export const LIST_COLUMNS: readonly Column[] = COLUMNS;

function rate(perS: number): string {
  return perS >= 100 ? count(Math.round(perS)) : perS.toFixed(1);
}

function queue({ state, opened, now }: TopView, paper: Paper): Span[][] {
  const name = `queue ${toPrintable(state.opened ?? '')}`;
  if (!opened || opened.status === 'connecting') return [[[name, 'bold'], '  connecting']];
  const places = positionedEntries(opened);
  const page = Math.max(1, pageOf(paper) - 1);
  const first = Math.max(0, Math.min(state.scrolled, places.length - page));
  const shown = places.slice(first, first + page);
  const from =
    first > 0 || places.length > page ? `  ${count(first + 1)} to ${count(first + shown.length)}` : '';
  const head = `${fit(name, Math.min(widthOf(name), Math.max(10, paper.columns - 40)))}  ${counted(places.length, 'entry', 'entries')}${from}`;
  const stale: Span[] = opened.status === 'stale' ? [['  the server does not respond', 'red']] : [];
  if (places.length === 0) return [[[head, 'bold'], ...stale], ['the queue is empty']];
  const rows = shown.map((place) => entryRow(place, now));
  return [[[head, 'bold'], ...stale], ...tableLines(ENTRY_COLUMNS, rows, paper.columns)];
}

function keysOf({ typing, filter, help, opened }: TopState): string {
  if (typing) return `filter: ${toPrintable(filter)}_   Enter keeps it, Esc clears it`;
  if (help) return 'any key goes back';
  if (opened !== undefined) return 'Up Down PgUp PgDn Home End scroll   Esc back   ? help   q quit';
  const filtered = filter === '' ? '/ filter' : `filter "${toPrintable(filter)}" (Esc clears)`;
  return `? help   q quit   Enter opens   d h l w n sort   r reverse   ${filtered}`;
}

const HELP: Span[][] = [
  [['Keys', 'bold']],
  ['  Up Down PgUp PgDn Home End   move'],
  ['  Enter, Right                 open the queue: its holders and waiters, in order'],
  ['  Esc, Backspace, Left         back; in the list: clear the filter'],
  ['  d h l w n                    sort by entries, hand-offs, held, wait, name; again: reverse'],
  ['  r                            reverse'],
  ['  /                            filter by a part of the name'],
  ['  q, Ctrl-C                    quit'],
  [],
  [['Columns', 'bold']],
  ['  ENTRIES      holders and waiters'],
  ['  HAND-OFFS/S  entries that left per second, over the last ten seconds'],
  ['  HELD         time since the first entry was seen first; > if it was in the queue when the view began'],
  ['  TURN         recent duration of a turn'],
  ['  WAIT         expected wait of a new entry'],
];
