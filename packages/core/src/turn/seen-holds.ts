import { admittedEntries } from './admitted.ts';
import type { Clock } from '../base/clock.ts';
import type { HoldTimes } from './expected-wait.ts';
import type { QueueEntry, QueueState } from '../api/queue-api.ts';

/** A hold that has not ended. */
interface Hold {
  readonly key: string;
  /** Time at which the hold began or was first observed, in milliseconds. */
  readonly since: number;
  readonly sawBegin: boolean;
}

const KEPT_TIMES = 9;

/**
 * Measures the holds of a queue from its snapshots. A hold lasts from the first snapshot that shows its entry as admitted to the first snapshot
 * without it. Only holds that were observed from beginning to end, with no missed snapshot, count for the typical length.
 */
export class SeenHolds {
  readonly #clock: Clock;
  readonly #lengths: number[] = [];
  #holds: ReadonlyMap<string, Hold> = new Map();
  /** Whether the last snapshot was `live`. If so, no change was missed since then. */
  #isContinuous = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readState({ status, entries }: QueueState): void {
    if (status === 'live')
      this.#follow(new Map([...admittedEntries(entries)].map((entry) => [nameOf(entry), entry])));
    this.#isContinuous = status === 'live';
  }

  get times(): HoldTimes {
    const now = this.#clock.now();
    return {
      typicalMs: medianOf(this.#lengths),
      heldMs: new Map([...this.#holds.values()].map(({ key, since }) => [key, now - since])),
    };
  }

  #follow(admitted: ReadonlyMap<string, QueueEntry>): void {
    const now = this.#clock.now();
    const sawBegin = this.#isContinuous;
    for (const [name, hold] of this.#holds) if (!admitted.has(name)) this.#end(hold, now);
    const begun = [...admitted].map(([name, { key }]): [string, Hold] => [
      name,
      this.#holds.get(name) ?? { key, since: now, sawBegin },
    ]);
    this.#holds = new Map(begun);
  }

  #end({ since, sawBegin }: Hold, now: number): void {
    if (!sawBegin || !this.#isContinuous) return;
    this.#lengths.push(now - since);
    if (this.#lengths.length > KEPT_TIMES) this.#lengths.shift();
  }
}

/** Returns a text that identifies an entry, even on a store that uses keys again. */
function nameOf({ key, order }: QueueEntry): string {
  return `${String(order)} ${key}`;
}

function medianOf(lengths: readonly number[]): number | undefined {
  return [...lengths].sort((a, b) => a - b)[Math.floor(lengths.length / 2)];
}
