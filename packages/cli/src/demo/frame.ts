import type { QueueEntry, QueueState } from '@queuelock/core';
import { millisBetween } from '../stamp.ts';
import { paint, type Colour, type Span } from '../terminal/paint.ts';
import type { Paper } from '../terminal/terminal.ts';
import type { HistoryEvent } from './history.ts';
import { columnsOf, lanesOf, type Doing, type Lane } from './lanes.ts';

/** The data that a frame of the demo shows. */
export interface View {
  readonly queue: QueueState;
  readonly history: readonly HistoryEvent[];
  readonly contenders: number;
  /** Time at which the demo started, as a stamp. */
  readonly start: string;
  readonly now: string;
  /** Whether this is the last frame, which does not show the queue. */
  readonly over: boolean;
  /** Returns the end of the proven time of this contender's hold as a stamp, if it is known. */
  readonly provenUntil: (id: string) => string | undefined;
}

const STEPS_MS = [50, 100, 200, 300, 500, 1_000];
const BUDGET_MS_PER_CELL = 200;

/**
 * Draws a frame of the demo: counters, a timeline for each contender, and the current queue. The text has no
 * line break at its end.
 */
export function drawFrame(view: View, paper: Paper): string {
  const lanes = lanesOf(view.history, view.start);
  const roomForQueue = Math.max(1, paper.rows - view.contenders - 6);
  const lines = [
    counters(view),
    [],
    ...lanes.map((lane) => drawLane(lane, view, paper)),
    ...Array.from({ length: view.contenders - lanes.length }, () => []),
    legend(paper),
    ...(view.over ? [] : queueLines(view, paper, Math.min(roomForQueue, view.contenders))),
  ];
  // The last column of the terminal stays free, because some terminals wrap a line that fills it.
  return lines.map((line) => paint(line, { ...paper, columns: paper.columns - 1 })).join('\n');
}

function counters({ history, start, now, queue }: View): Span[] {
  const count = (ev: HistoryEvent['ev']): string => String(history.filter((event) => event.ev === ev).length);
  const seconds = (millisBetween(start, now) / 1000).toFixed(1);
  const stale: Span[] = queue.status === 'stale' ? [['   the server does not respond', 'red']] : [];
  return [
    [`${seconds} s`, 'bold'],
    ...stale,
    `   grants ${count('acquired')}   released ${count('released')}`,
    `   gave up ${count('cancelled')}   crashed ${count('crashed')}   expired ${count('expired')}`,
  ];
}

const COLOUR: Record<Doing, Colour> = { holds: 'green', waits: 'dim', dead: 'red' };
const BLOCKS: Record<Doing, string> = { holds: '█', waits: '░', dead: '▒' };
const LETTERS: Record<Doing, string> = { holds: '#', waits: '.', dead: 'x' };
const NOW_WIDTH = 8;

function drawLane(lane: Lane, view: View, paper: Paper): Span[] {
  const width = Math.max(0, paper.columns - 1 - 4 - NOW_WIDTH - 1);
  const nowMs = millisBetween(view.start, view.now);
  const columnMs = STEPS_MS.find((step) => nowMs / step < width) ?? Math.ceil(nowMs / Math.max(1, width));
  const glyphs = paper.blocks ? BLOCKS : LETTERS;
  const cells = columnsOf(lane, { width, columnMs, nowMs });
  return [
    [lane.id.padEnd(4), 'bold'],
    lane.now.padEnd(NOW_WIDTH),
    ...cells.map((doing): Span => (doing ? [glyphs[doing], COLOUR[doing]] : ' ')),
  ];
}

function legend({ blocks }: Paper): Span[] {
  const glyphs = blocks ? BLOCKS : LETTERS;
  const part = (doing: Doing, text: string): Span[] => [[glyphs[doing], COLOUR[doing]], ` ${text}   `];
  return [
    '    ',
    ...part('waits', 'waits'),
    ...part('holds', 'holds'),
    ...part('dead', 'dead, not yet expired'),
  ];
}

/** Formats the queue. Returns the same number of lines for every queue, so that the frame does not jump. */
function queueLines(view: View, paper: Paper, room: number): Span[][] {
  const { entries } = view.queue;
  const shown = entries.slice(0, entries.length > room ? room - 1 : room);
  const lines = shown.map((entry, index) => drawEntry(entry, index, { view, paper }));
  if (shown.length < entries.length) lines.push([`    and ${String(entries.length - shown.length)} more`]);
  if (entries.length === 0) lines.push(['    nobody']);
  const blank = Array.from({ length: Math.max(0, room - lines.length) }, (): Span[] => []);
  return [[], [[`queue ${view.queue.name}`, 'bold'], ' as the server reports it'], ...lines, ...blank];
}

function drawEntry(entry: QueueEntry, index: number, { view, paper }: { view: View; paper: Paper }): Span[] {
  const last = view.history.findLast(({ id }) => id === entry.owner);
  const dead = last?.ev === 'crashed';
  const place: Span[] = [
    `${String(index + 1).padStart(3)} `,
    [entry.owner.padEnd(4), 'bold'],
    `#${String(entry.order)} `,
  ];
  if (index > 0) return place;
  const until = last && 'until' in last ? last.until : view.provenUntil(entry.owner);
  const leftMs = until === undefined ? undefined : Math.max(0, millisBetween(view.now, until));
  const state: Span = dead ? [' is dead ', 'red'] : [' holds ', 'green'];
  return [...place, state, ...(leftMs === undefined ? [] : drawBudget(leftMs, dead, paper))];
}

function drawBudget(leftMs: number, dead: boolean, { blocks }: Paper): Span[] {
  const bar = (blocks ? '■' : '=').repeat(Math.ceil(leftMs / BUDGET_MS_PER_CELL));
  const text = `${(leftMs / 1000).toFixed(1)} s ${dead ? 'until it may expire ' : 'proven '}`;
  return [text.padStart(6), [bar, dead ? 'red' : leftMs < 500 ? 'yellow' : 'cyan']];
}
