import type { EntryName, PendingEnqueues } from '../kit/pending-enqueues.ts';
import type { TrackedEntry, EntryTracker } from './entry-tracker.ts';

/** An entry of a session, as the store has it. */
export interface FoundEntry extends EntryName {
  /** As in `TrackedEntry`. */
  readonly ord: TrackedEntry['ord'];
  readonly admitted: boolean;
}

/** At what is looked, and how. */
export interface SessionReconcilerOptions<Found extends FoundEntry> {
  readonly entries: EntryTracker<TrackedEntry & Pick<Found, 'ord'>>;
  readonly pendingEnqueues: PendingEnqueues;
  /** Entries up to that number are of those who had the session before; 0 when it was opened here. */
  readonly inherited: number;
  /** All entries of the session. */
  readonly readEntries: () => Promise<readonly Found[]>;
  /** Removes one that nobody owns any more. */
  readonly remove: (entry: Found) => Promise<unknown>;
  /** The number of the next call, as in `TrackedEntry`. */
  readonly nextCall: () => number;
}

/** Finds out what a session has missed, and what the store has forgotten. */
export class SessionReconciler<Found extends FoundEntry> {
  readonly #settings: SessionReconcilerOptions<Found>;
  #inherited: number;
  /** Inherited entries that have left. */
  readonly #leftBehind = new Set<Found['ord']>();
  #unclaimed: readonly Found[] | undefined = [];
  #hasEntered = false;
  #isLooking = false;
  #isStale = false;

  constructor(settings: SessionReconcilerOptions<Found>) {
    this.#settings = settings;
    this.#inherited = settings.inherited;
  }

  /**
   * What the store had at the last look beside what was known here: entries that were inherited and not asked for, or were on their way.
   * undefined after a look that failed: there is a reason to look again.
   */
  get unclaimed(): readonly Found[] | undefined {
    return this.#unclaimed;
  }

  /** From now on there is something to look at. */
  entryAdded(): void {
    this.#hasEntered = true;
  }

  /** An entry of the session has left. */
  entryRemoved({ ord }: Pick<Found, 'ord'>): void {
    if (Number(ord) <= this.#inherited) this.#leftBehind.add(ord);
  }

  /**
   * From now on an inherited entry that was not asked for counts as one that nobody owns, and is removed. Rejects when the look fails; safe
   * to repeat.
   */
  async removeUnclaimed(): Promise<void> {
    if (this.#settings.inherited === 0) return;
    this.#inherited = 0;
    await this.#look();
  }

  /** Looks at all its entries: something may have been missed. One look at a time, and one more if there is another reason meanwhile. */
  reconcile(): void {
    this.#isStale = true;
    if (this.#isLooking || !this.#hasEntered) return;
    this.#isLooking = true;
    void this.#lookAll();
  }

  async #lookAll(): Promise<void> {
    try {
      while (this.#isStale) {
        this.#isStale = false;
        await this.#look();
      }
    } catch {
      this.#unclaimed = undefined;
    }
    this.#isLooking = false;
  }

  async #look(): Promise<void> {
    const { entries, readEntries, remove, nextCall } = this.#settings;
    const call = nextCall();
    const found = await readEntries();
    entries.reconcile(call, new Map(found.map(({ ord, admitted }) => [ord, admitted])));
    const unknown = found.filter(({ ord }) => !entries.has(ord));
    const forgotten = new Set(unknown.filter((entry) => this.#isForgotten(entry)));
    this.#unclaimed = unknown.filter((entry) => !forgotten.has(entry));
    for (const entry of forgotten) await remove(entry);
  }

  /** It has left, and the store went back to when it was there: nobody owns it, and all wait behind it. */
  #isForgotten(entry: Found): boolean {
    if (this.#settings.pendingEnqueues.has(entry)) return false;
    return Number(entry.ord) > this.#inherited || this.#leftBehind.has(entry.ord);
  }
}
