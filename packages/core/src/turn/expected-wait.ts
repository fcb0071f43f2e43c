import { admittedEntries } from './admitted.ts';
import type { WaitBasis } from '../api/position-api.ts';
import type { QueueEntry } from '../api/queue-api.ts';

/** What an observer has seen of the holds of a queue. */
export interface HoldTimes {
  /** The usual length of a hold, in milliseconds, for those who announce none; say, the median of those seen. */
  readonly typicalMs?: number | undefined;
  /** A hold of those who announce none, as long as none was seen, in milliseconds. */
  readonly assumedMs?: number | undefined;
  /** For how long the entries that hold now have been seen to hold, in milliseconds, by their `key`. Default: they begin now. */
  readonly heldMs?: ReadonlyMap<string, number>;
}

/** How long an entry is expected to wait. */
export interface ExpectedWait {
  /** In milliseconds; 0 when its turn has come. `undefined`: it waits for holds of which nothing is known, or it is not there. */
  readonly waitMs: number | undefined;
  readonly basis: WaitBasis;
}

/**
 * How long the entry with this id waits, if those ahead hold as long as they announce (`typicalHoldMs`), else as long as was seen, else as
 * is assumed: the queue's own rule, played with these times. So readers that hold together take the time of the longest, and the permits of a
 * semaphore work in parallel. Somebody who holds longer than usual is expected to end now. An estimate: nobody promises to hold
 * no longer, and time for handing over is not counted.
 */
export function expectedWait(entries: readonly QueueEntry[], id: string, seen: HoldTimes = {}): ExpectedWait {
  return expectedWaitAt(
    entries,
    entries.findIndex((entry) => entry.id === id),
    seen,
  );
}

/** As `expectedWait`, of the entry at that index. */
export function expectedWaitAt(
  entries: readonly QueueEntry[],
  at: number,
  seen: HoldTimes = {},
): ExpectedWait {
  const own = entries[at];
  if (!own) return { waitMs: undefined, basis: basisOf([], seen) };
  const ahead = entries.slice(0, at);
  if (admittedEntries([...ahead, own]).has(own)) return { waitMs: 0, basis: basisOf([], seen) };
  const line = new Schedule();
  for (const entry of ahead) line.add(entry, remainingMs(entry, seen));
  const waitMs = line.startOf(own);
  const involved = own.shared ? ahead.slice(0, ahead.findLastIndex(({ shared }) => !shared) + 1) : ahead;
  return { waitMs: waitMs === Infinity ? undefined : waitMs, basis: basisOf(involved, seen) };
}

/** What is left of a hold once it begins, or of the one that has begun. */
function remainingMs(entry: QueueEntry, { typicalMs, assumedMs = Infinity, heldMs }: HoldTimes): number {
  return Math.max(0, (entry.typicalHoldMs ?? typicalMs ?? assumedMs) - (heldMs?.get(entry.key) ?? 0));
}

/** When the entries of a line begin and end, as far as those ahead tell: it has to be filled in the line's order. */
class Schedule {
  readonly #all: Hold[] = [];
  readonly #exclusive: Hold[] = [];

  add(entry: QueueEntry, holdMs: number): void {
    const hold = { endMs: this.startOf(entry) + holdMs, permits: entry.permits };
    insert(this.#all, hold);
    if (!entry.shared) insert(this.#exclusive, hold);
  }

  /** Of those in its way, the ones that end last fill up what it leaves; it begins when the first that is too many ends. */
  startOf({ shared, limit, permits }: QueueEntry): number {
    let left = limit - permits;
    const last = (shared ? this.#exclusive : this.#all).find((hold) => (left -= hold.permits) < 0);
    return last?.endMs ?? 0;
  }
}

interface Hold {
  readonly endMs: number;
  readonly permits: number;
}

/** Keeps those first that end last. */
function insert(holds: Hold[], hold: Hold): void {
  const at = holds.findIndex(({ endMs }) => endMs <= hold.endMs);
  holds.splice(at === -1 ? holds.length : at, 0, hold);
}

function basisOf(entries: readonly QueueEntry[], { typicalMs, assumedMs }: HoldTimes): WaitBasis {
  const announced = entries.filter(({ typicalHoldMs }) => typicalHoldMs !== undefined).length;
  const rest = entries.length - announced;
  const basis = { announced, seen: 0, assumed: 0, unknown: 0 };
  if (typicalMs !== undefined) return { ...basis, seen: rest };
  return assumedMs === undefined ? { ...basis, unknown: rest } : { ...basis, assumed: rest };
}
