import type { Clock, QueueState } from '@queuelock/core';
import { findDeadlocks, keyOf, type Deadlock } from './deadlock.ts';

/** Settings for the confirmation of suspected deadlocks. */
export interface Confirmation {
  readonly confirmMs: number;
  readonly clock: Clock;
  /** Receives the list of all confirmed deadlocks, after every call of `look` and when another deadlock is confirmed. */
  readonly report: (deadlocks: readonly Deadlock[]) => void;
}

/**
 * Confirms deadlocks by the entries that have not changed for `confirmMs`. Snapshots of different queues are not of one moment, so a cycle
 * across them may
 * never have existed. But an entry in two snapshots was in the queue between them, and an entry that waits has waited since it joined. So
 * only entries that were already in the snapshots of `confirmMs` ago count. All of these were in their queues at that moment, if no present
 * snapshot is older than `confirmMs`.
 */
export class ConfirmedDeadlocks {
  readonly #options: Confirmation;
  #pictures: readonly QueueState[] = [];
  /** Names of the entries that were present at least `confirmMs` ago. An entry that has left never returns. */
  #old: ReadonlySet<string> = new Set();
  #cancel: (() => void) | undefined;

  constructor(options: Confirmation) {
    this.#options = options;
  }

  look(pictures: readonly QueueState[]): void {
    this.#pictures = pictures;
    this.#judge();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #judge(): void {
    const suspected = findDeadlocks(this.#pictures);
    const sure = suspected.length > 0 ? findDeadlocks(only(this.#pictures, this.#old)) : [];
    if (suspected.length === 0) this.#old = new Set();
    const keys = new Set(sure.map(keyOf));
    if (suspected.every((deadlock) => keys.has(keyOf(deadlock)))) this.stop();
    else this.#cancel ??= this.#age();
    this.#options.report(sure);
  }

  #age(): () => void {
    const { clock, confirmMs } = this.#options;
    const present = namesIn(this.#pictures);
    return inTwoSteps(clock, confirmMs, () => {
      this.#cancel = undefined;
      this.#old = present;
      this.#judge();
    });
  }
}

/**
 * Runs `task` after `ms` milliseconds, by two timers. In a process that was paused, a late timer fires before notifications that arrived
 * meanwhile are read. The second timer fires after them.
 */
function inTwoSteps(clock: Clock, ms: number, task: () => void): () => void {
  let cancel = clock.after(ms / 2, () => {
    cancel = clock.after(ms / 2, task);
  });
  return () => {
    cancel();
  };
}

function only(pictures: readonly QueueState[], names: ReadonlySet<string>): readonly QueueState[] {
  return pictures.map((picture, place) => ({
    ...picture,
    entries: picture.entries.filter((entry) => names.has(nameOf(place, entry))),
  }));
}

function namesIn(pictures: readonly QueueState[]): ReadonlySet<string> {
  const live = pictures.map(({ status, entries }) => (status === 'live' ? entries : []));
  return new Set(live.flatMap((entries, place) => entries.map((entry) => nameOf(place, entry))));
}

/** Returns a name that is also unique where a store reuses a key, and where two stores have queues of the same name. */
function nameOf(place: number, { key, order }: QueueState['entries'][number]): string {
  return `${place} ${order} ${key}`;
}
