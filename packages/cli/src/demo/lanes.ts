import { millisBetween } from '../stamp.ts';
import type { HistoryEvent } from './history.ts';

/**
 * State of a contender over a period. `dead`: the contender was killed, and its entry has not expired yet.
 */
export type Doing = 'waits' | 'holds' | 'dead';

/**
 * A period in which a contender's state does not change. Both times are in milliseconds since the start of
 * the demo; `to` is `undefined` while the period lasts.
 */
interface Stretch {
  readonly doing: Doing;
  readonly from: number;
  readonly to: number | undefined;
}

/** Timeline of one contender. */
export interface Lane {
  readonly id: string;
  readonly stretches: readonly Stretch[];
  /** Current activity of the contender in a word or two. */
  readonly now: string;
}

const BEGINS: Partial<Record<HistoryEvent['ev'], Doing>> = {
  enqueued: 'waits',
  acquired: 'holds',
  crashed: 'dead',
};
const NOW: Record<HistoryEvent['ev'], string> = {
  requesting: 'asks',
  enqueued: 'waits',
  acquired: 'holds',
  released: 'done',
  lost: 'lost it',
  cancelled: 'gave up',
  error: 'failed',
  crashed: 'dead',
  expired: 'expired',
};

/** Returns the timelines of all contenders, in the order in which they appeared. `start` is a stamp. */
export function lanesOf(history: readonly HistoryEvent[], start: string): Lane[] {
  const lanes = new Map<string, { stretches: Stretch[]; now: string }>();
  for (const event of history) {
    const lane = lanes.get(event.id) ?? { stretches: [], now: '' };
    lanes.set(event.id, lane);
    const at = millisBetween(start, event.t);
    const open = lane.stretches.at(-1);
    if (open && open.to === undefined) lane.stretches.splice(-1, 1, { ...open, to: at });
    const doing = BEGINS[event.ev];
    if (doing) lane.stretches.push({ doing, from: at, to: undefined });
    lane.now = NOW[event.ev];
  }
  return [...lanes].map(([id, lane]) => ({ id, ...lane }));
}

/**
 * Divides a timeline into `width` columns of `columnMs` milliseconds each. Returns the state to show in each
 * column. If the contender had several states in the time of a column, shows `holds` rather than `dead`, and
 * `dead` rather than `waits`.
 */
export function columnsOf(
  lane: Lane,
  options: { width: number; columnMs: number; nowMs: number },
): (Doing | undefined)[] {
  const { width, columnMs, nowMs } = options;
  return Array.from({ length: width }, (_, column) => {
    const [from, to] = [column * columnMs, (column + 1) * columnMs];
    const here = lane.stretches.filter(
      (stretch) => stretch.from < to && (stretch.to ?? nowMs) >= from && from <= nowMs,
    );
    return RANK.find((doing) => here.some((stretch) => stretch.doing === doing));
  });
}

const RANK: readonly Doing[] = ['holds', 'dead', 'waits'];
