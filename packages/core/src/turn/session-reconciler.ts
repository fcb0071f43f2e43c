import type { EntryName, PendingEnqueues } from '../kit/pending-enqueues.ts';
import type { TrackedEntry, EntryTracker } from './entry-tracker.ts';

/** An entry of a session, as stored. */
export interface FoundEntry extends EntryName {
  /** The entry's number; see `TrackedEntry.ord`. */
  readonly ord: TrackedEntry['ord'];
  readonly admitted: boolean;
}

/** Parameters of a `SessionReconciler`. */
export interface SessionReconcilerOptions<Found extends FoundEntry> {
  readonly entries: EntryTracker<TrackedEntry & Pick<Found, 'ord'>>;
  readonly pendingEnqueues: PendingEnqueues;
  /** Entries up to this number belong to the process that had the session before; 0 when it was opened here. */
  readonly inherited: number;
  /** Reads all entries of the session. */
  readonly readEntries: () => Promise<readonly Found[]>;
  /** Removes an entry without an owner. */
  readonly remove: (entry: Found) => Promise<unknown>;
  /** Returns the number of the next call; see `TrackedEntry.call`. */
  readonly nextCall: () => number;
}

/** Compares a session's stored entries with the tracked ones, to find missed changes and entries that the store has forgotten. */
export class SessionReconciler<Found extends FoundEntry> {
  readonly #settings: SessionReconcilerOptions<Found>;
  #inherited: number;
  /** Numbers of the entries of the earlier process that have left. */
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
   * Stored entries at the last read that were not tracked here: unclaimed inherited entries, or entries in flight. `undefined` after a failed read,
   * which is a reason to read again.
   */
  get unclaimed(): readonly Found[] | undefined {
    return this.#unclaimed;
  }

  /** Notes that the session has an entry, so that reads become useful. */
  entryAdded(): void {
    this.#hasEntered = true;
  }

  /** Notes that an entry of the session has left. */
  entryRemoved({ ord }: Pick<Found, 'ord'>): void {
    if (Number(ord) <= this.#inherited) this.#leftBehind.add(ord);
  }

  /** Treats unclaimed inherited entries as ownerless from now on, and removes them. Rejects when the read fails; safe to repeat. */
  async removeUnclaimed(): Promise<void> {
    if (this.#settings.inherited === 0) return;
    this.#inherited = 0;
    await this.#look();
  }

  /** Reads all entries, because a change may have been missed. One read at a time, and one more if another reason arises meanwhile. */
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

  /**
   * Whether the entry has left and is in the store again, because the store was rolled back. Such an entry has no owner and blocks all
   * entries behind it.
   */
  #isForgotten(entry: Found): boolean {
    if (this.#settings.pendingEnqueues.has(entry)) return false;
    return Number(entry.ord) > this.#inherited || this.#leftBehind.has(entry.ord);
  }
}
