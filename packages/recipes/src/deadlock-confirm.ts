import type { Clock, QueueState } from '@queuelock/core';
import { findDeadlocks, keyOf, type Deadlock } from './deadlock.ts';

/** How a circle is made sure of. */
export interface Confirmation {
  readonly confirmMs: number;
  readonly clock: Clock;
  /** Told all deadlocks that are sure, after every look and when another one is. */
  readonly report: (deadlocks: readonly Deadlock[]) => void;
}

/**
 * Judges by what did not change for a while. Pictures of different queues are not of one moment; but an entry that is seen twice was
 * there between, and one that waits has waited since it joined. So if one leaves out of the present pictures all entries that were not
 * there in pictures of `confirmMs` ago, what is left was all true then, at one moment, if no picture is older than `confirmMs` now.
 */
export class ConfirmedDeadlocks {
  readonly #options: Confirmation;
  #pictures: readonly QueueState[] = [];
  /** What was there long enough ago. Nothing that has left comes back. */
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

/** A timer that is late, in a process that stood still, fires before the news that came meanwhile are read: the second one does not. */
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

/** Also where a store uses a key again, and where two stores have queues of one name. */
function nameOf(place: number, { key, order }: QueueState['entries'][number]): string {
  return `${place} ${order} ${key}`;
}
