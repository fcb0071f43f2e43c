import { admittedEntries } from './admitted.ts';
import type { WaitBasis } from '../api/position-api.ts';
import type { QueueEntry } from '../api/queue-api.ts';

/** Hold times of a queue, as far as they are known. */
export interface HoldTimes {
  /** Typical hold time in milliseconds for entries whose clients announce none, for example the median of those observed. */
  readonly typicalMs?: number | undefined;
  /** Assumed hold time in milliseconds for entries whose clients announce none. Used instead of `typicalMs` until a hold was observed. */
  readonly assumedMs?: number | undefined;
  /** For how long the current holders have been observed to hold, in milliseconds, by the `key` of their entries. Default: their holds begin now. */
  readonly heldMs?: ReadonlyMap<string, number>;
}

/** The expected wait of an entry. */
export interface ExpectedWait {
  /** Expected wait in milliseconds; 0 when the entry is admitted. `undefined` when it waits for holds of unknown length, or is not in the queue. */
  readonly waitMs: number | undefined;
  readonly basis: WaitBasis;
}

/**
 * Estimates how long the entry with this id will wait, by simulating the queue's rule. Each hold ahead takes its announced time (`typicalHoldMs`),
 * else the observed, else the assumed one. Readers that hold together thus take the time of the longest, and the permits of a semaphore run in
 * parallel. A holder that exceeds this time is expected to end now. This is an estimate: no client promises a hold time, and hand-off time is not
 * included.
 */
export function expectedWait(entries: readonly QueueEntry[], id: string, seen: HoldTimes = {}): ExpectedWait {
  return expectedWaitAt(
    entries,
    entries.findIndex((entry) => entry.id === id),
    seen,
  );
}

/** Does the same as `expectedWait`, for the entry at the index `at` of the queue. */
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

/** Returns the remaining time of a hold in milliseconds, from its start, or from now if it has begun. */
function remainingMs(entry: QueueEntry, { typicalMs, assumedMs = Infinity, heldMs }: HoldTimes): number {
  return Math.max(0, (entry.typicalHoldMs ?? typicalMs ?? assumedMs) - (heldMs?.get(entry.key) ?? 0));
}

/** The computed start and end times of holds. Entries must be added in the queue's order. */
class Schedule {
  readonly #all: Hold[] = [];
  readonly #exclusive: Hold[] = [];

  add(entry: QueueEntry, holdMs: number): void {
    const hold = { endMs: this.startOf(entry) + holdMs, permits: entry.permits };
    insert(this.#all, hold);
    if (!entry.shared) insert(this.#exclusive, hold);
  }

  /**
   * Computes when the entry starts to hold. It starts as soon as its permits fit into its limit, together with the permits of the conflicting holds
   * ahead that have not ended by then.
   */
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

/** Keeps the holds sorted by end time, latest first. */
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
