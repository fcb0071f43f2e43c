import type { Span, TimelineSnapshot } from '@queuelock/bridge/wire';

/** A part of the time axis. On the axis, 0 is the oldest shown time and 1 is now. */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** The stay of one entry in the queue (from joining to leaving), as it is drawn in a row: a wait, then a hold. */
export interface Lane {
  readonly id: string;
  readonly span: Span;
  readonly wait: Stretch | undefined;
  readonly hold: Stretch | undefined;
  /** Whether the entry is still in the queue now. */
  readonly isPresent: boolean;
}

/** A connecting line from the end of a hold to the beginning of the next hold. */
interface HandOff {
  readonly at: number;
  readonly fromLane: number;
  readonly toLane: number;
}

/**
 * A labelled point of the time axis: its position (`at`, from 0 to 1), and its time in milliseconds since
 * 1970.
 */
interface Tick {
  readonly at: number;
  readonly time: number;
}

/** The drawing of a queue's timeline: rows, hand-offs, labels of the time axis, and periods without data. */
export interface Drawing {
  readonly lanes: readonly Lane[];
  readonly handOffs: readonly HandOff[];
  readonly ticks: readonly Tick[];
  /** Periods in which the store could not be read, as parts of the time axis. */
  readonly gaps: readonly Stretch[];
  /** Number of entries that were in the queue in the shown period and are not drawn, because there are too few rows. */
  readonly omitted: number;
}

/** The period that a timeline shows, and the number of its rows. */
export interface Frame {
  /** Current time by the bridge's clock. */
  readonly now: number;
  readonly windowMs: number;
  readonly lanes: number;
}

/**
 * Computes the drawing of a timeline for the last `windowMs`. Its rows are the stays of the entries that left
 * last, and then of the present entries in the order of the queue.
 */
export function drawingOf(
  { spans, gaps }: Pick<TimelineSnapshot, 'spans' | 'gaps'>,
  { now, windowMs, lanes }: Frame,
): Drawing {
  const begin = now - windowMs;
  const scale = (time: number): number => clamp((time - begin) / windowMs);
  const seen = spans.filter(({ leftAt = now }) => leftAt > begin);
  const shown = fitting(seen, lanes).map((span) => laneOf(span, now, scale));
  return {
    lanes: shown,
    handOffs: handOffsOf(shown),
    ticks: ticksOf(begin, now).map((time) => ({ time, at: scale(time) })),
    gaps: gaps
      .filter(({ to = now }) => to > begin)
      .map(({ from, to = now }) => ({ from: scale(from), to: scale(to) })),
    omitted: seen.length - shown.length,
  };
}

function clamp(part: number): number {
  return Math.max(0, Math.min(1, part));
}

/**
 * Selects the stays to draw. Entries in the queue and entries that have left it get half of the rows each.
 * Either kind may use rows that the other kind leaves free.
 */
function fitting(spans: readonly Span[], lanes: number): readonly Span[] {
  const ended = spans.filter(({ leftAt }) => leftAt !== undefined);
  const present = spans.filter(({ leftAt }) => leftAt === undefined);
  const lanesForEnded = Math.max(Math.floor(lanes / 2), lanes - present.length);
  const past = ended.slice(Math.max(0, ended.length - lanesForEnded));
  return [...past, ...present.slice(0, lanes - past.length)];
}

function laneOf(span: Span, now: number, scale: (time: number) => number): Lane {
  const { key, order, joinedAt, heldAt, leftAt } = span;
  const waitEnds = heldAt ?? leftAt ?? now;
  const wait = stretch(scale(joinedAt), scale(waitEnds));
  const hold = heldAt === undefined ? undefined : stretch(scale(heldAt), scale(leftAt ?? now));
  return { id: `${order} ${key}`, span, wait, hold, isPresent: leftAt === undefined };
}

function stretch(from: number, to: number): Stretch | undefined {
  return to > from ? { from, to } : undefined;
}

/**
 * Returns the hand-offs to draw. Each is a line from the end of one hold to the beginning of the hold that
 * follows it.
 */
function handOffsOf(lanes: readonly Lane[]): readonly HandOff[] {
  return lanes.flatMap(({ span: { heldAt, heldEarlier }, hold }, toLane) => {
    if (heldAt === undefined || heldEarlier || !hold || hold.from === 0) return [];
    let fromLane = -1;
    for (const [lane, { span }] of lanes.entries()) {
      if (span.heldAt === undefined || (span.leftAt ?? Infinity) > heldAt) continue;
      if ((lanes[fromLane]?.span.leftAt ?? -Infinity) <= (span.leftAt ?? 0)) fromLane = lane;
    }
    return fromLane === -1 ? [] : [{ at: hold.from, fromLane, toLane }];
  });
}

const STEPS_MS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1_800, 3_600].map((s) => s * 1_000);

/**
 * Returns about four round times (such as full minutes) between the two given times, for the labels of the
 * time axis.
 */
function ticksOf(begin: number, end: number): readonly number[] {
  const step = STEPS_MS.find((ms) => (end - begin) / ms <= 5) ?? end - begin;
  const first = Math.ceil(begin / step) * step;
  return Array.from({ length: Math.floor((end - first) / step) + 1 }, (_one, place) => first + place * step);
}

/**
 * Counts the holds that ended in each of `parts` equal parts of the period that the timeline shows, the
 * oldest part first.
 */
export function pulseOf(spans: readonly Span[], { now, windowMs }: Frame, parts: number): readonly number[] {
  const counts = Array.from({ length: parts }, () => 0);
  for (const { heldAt, leftAt } of spans) {
    if (heldAt === undefined || leftAt === undefined) continue;
    const part = Math.floor(((leftAt - (now - windowMs)) / windowMs) * parts);
    if (part >= 0 && part < parts) counts[part] = (counts[part] ?? 0) + 1;
  }
  return counts;
}

/**
 * Returns the hand-offs per second over the last minute, or over the shorter time since the bridge began to
 * watch.
 */
export function handOffsPerS(
  { spans, beganAt }: Pick<TimelineSnapshot, 'spans' | 'beganAt'>,
  now: number,
): number {
  const windowMs = Math.max(1_000, Math.min(60_000, now - beganAt));
  const ended = spans.filter(
    ({ heldAt, leftAt }) => heldAt !== undefined && leftAt !== undefined && leftAt > now - windowMs,
  );
  return (ended.length * 1_000) / windowMs;
}
