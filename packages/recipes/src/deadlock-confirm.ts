import type { Clock, QueueState } from '@queuelock/core';
import { findDeadlocks, keyOf, type Deadlock } from './deadlock.ts';

/** Settings for confirming suspected deadlocks. */
export interface Confirmation {
  readonly confirmMs: number;
  readonly clock: Clock;
  /**
   * Receives the list of all confirmed deadlocks: after every call of `ConfirmedDeadlocks.read`, and when a
   * further deadlock is confirmed.
   */
  readonly report: (deadlocks: readonly Deadlock[]) => void;
}

/**
 * Confirms suspected deadlocks by comparing snapshots that are `confirmMs` apart. Snapshots of different
 * queues are not taken at the same moment, so a cycle that spans them may never have existed. Only entries
 * count that were already in the snapshots of `confirmMs` ago and are still in their queues. If no snapshot
 * is out of date by more than `confirmMs`, all these entries were in their queues at the same moment.
 */
export class ConfirmedDeadlocks {
  readonly #options: Confirmation;
  #snapshots: readonly QueueState[] = [];
  /** Keys of the entries that were present at least `confirmMs` ago. An entry that has left a queue never returns. */
  #old: ReadonlySet<string> = new Set();
  #cancel: (() => void) | undefined;

  constructor(options: Confirmation) {
    this.#options = options;
  }

  read(snapshots: readonly QueueState[]): void {
    this.#snapshots = snapshots;
    this.#judge();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #judge(): void {
    const suspected = findDeadlocks(this.#snapshots);
    const sure = suspected.length > 0 ? findDeadlocks(only(this.#snapshots, this.#old)) : [];
    if (suspected.length === 0) this.#old = new Set();
    const keys = new Set(sure.map(keyOf));
    if (suspected.every((deadlock) => keys.has(keyOf(deadlock)))) this.stop();
    else this.#cancel ??= this.#age();
    this.#options.report(sure);
  }

  #age(): () => void {
    const { clock, confirmMs } = this.#options;
    const present = namesIn(this.#snapshots);
    return inTwoSteps(clock, confirmMs, () => {
      this.#cancel = undefined;
      this.#old = present;
      this.#judge();
    });
  }
}

/**
 * Runs `task` after `ms` milliseconds, by two timers one after the other. In a process that was paused, a
 * late timer fires before the store's notifications of that time are read. The second timer fires after they
 * are read, so `task` sees the present queues.
 */
function inTwoSteps(clock: Clock, ms: number, task: () => void): () => void {
  let cancel = clock.after(ms / 2, () => {
    cancel = clock.after(ms / 2, task);
  });
  return () => {
    cancel();
  };
}

function only(snapshots: readonly QueueState[], names: ReadonlySet<string>): readonly QueueState[] {
  return snapshots.map((snapshot, place) => ({
    ...snapshot,
    entries: snapshot.entries.filter((entry) => names.has(nameOf(place, entry))),
  }));
}

function namesIn(snapshots: readonly QueueState[]): ReadonlySet<string> {
  const live = snapshots.map(({ status, entries }) => (status === 'live' ? entries : []));
  return new Set(live.flatMap((entries, place) => entries.map((entry) => nameOf(place, entry))));
}

/**
 * Returns a text that identifies an entry. It is unique even if a store reuses a key, or if queues of two
 * stores have the same name.
 */
function nameOf(place: number, { key, order }: QueueState['entries'][number]): string {
  return `${place} ${order} ${key}`;
}
