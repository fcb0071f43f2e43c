import type { EntryName, PendingEnqueues } from '../kit/pending-enqueues.ts';
import { refOf, type TrackedEntry, type EntryTracker } from './entry-tracker.ts';

/** An entry of a session, as the store has stored it. */
export interface FoundEntry extends EntryName {
  /** The order number that the store gave the entry. */
  readonly ord: TrackedEntry['ord'];
  readonly admitted: boolean;
}

/** Settings of a `SessionReconciler`. */
export interface SessionReconcilerOptions<Found extends FoundEntry> {
  readonly entries: EntryTracker<TrackedEntry & Pick<Found, 'ord'>>;
  readonly pendingEnqueues: PendingEnqueues;
  /**
   * The text `number/id` (see `refOf`) of each entry that the session had when this process resumed it. Numbers alone do not tell these entries from
   * later ones: a store may number each queue separately, from a clock that is set back. Empty if this process has opened the session.
   */
  readonly inherited: ReadonlySet<string>;
  /** Reads all entries of the session from the store. */
  readonly readEntries: () => Promise<readonly Found[]>;
  /** Removes an entry that no client claims. */
  readonly remove: (entry: Found) => Promise<unknown>;
  /** Returns a number larger than those of all earlier calls; see `TrackedEntry.call`. */
  readonly nextCall: () => number;
}

/**
 * Compares the entries of a session that the store has with the entries that this process tracks (see `EntryTracker`). Finds changes that this
 * process has missed, and entries that the store has forgotten.
 */
export class SessionReconciler<Found extends FoundEntry> {
  readonly #settings: SessionReconcilerOptions<Found>;
  /** The text `number/id` of each entry of the earlier process that may still be in the store. */
  readonly #inherited: Set<string>;
  #unclaimed: readonly Found[] | undefined = [];
  #hasEntered = false;
  #isLooking = false;
  #isStale = false;

  constructor(settings: SessionReconcilerOptions<Found>) {
    this.#settings = settings;
    this.#inherited = new Set(settings.inherited);
  }

  /**
   * Entries of the session that this process did not track at the last read. Either an earlier process created them and no claim has taken them over,
   * or they are in flight. `undefined` after a failed read, which must be repeated.
   */
  get unclaimed(): readonly Found[] | undefined {
    return this.#unclaimed;
  }

  /** Records that the session has an entry. Before the first entry, the reconciler does not read the store. */
  entryAdded(): void {
    this.#hasEntered = true;
  }

  /** Records that an entry of the session has left. */
  entryRemoved(entry: Pick<Found, 'ord' | 'id'>): void {
    this.#inherited.delete(refOf(entry));
  }

  /** Removes the entries of the earlier process that no claim of this process has taken over. Rejects when the read fails; may be repeated. */
  async removeUnclaimed(): Promise<void> {
    if (this.#settings.inherited.size === 0) return;
    this.#inherited.clear();
    await this.#read();
  }

  /** Reads all entries, because a change may have been missed. Only one read runs at a time. If it is called during a read, another read follows. */
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
        await this.#read();
      }
    } catch {
      this.#unclaimed = undefined;
    }
    this.#isLooking = false;
  }

  async #read(): Promise<void> {
    const { entries, readEntries, remove, nextCall } = this.#settings;
    const call = nextCall();
    const found = await readEntries();
    entries.reconcile(call, new Map(found.map((entry) => [refOf(entry), entry.admitted])));
    const unknown = found.filter((entry) => !entries.has(refOf(entry)));
    const forgotten = new Set(unknown.filter((entry) => this.#isForgotten(entry)));
    this.#unclaimed = unknown.filter((entry) => !forgotten.has(entry));
    for (const entry of forgotten) await remove(entry);
  }

  /**
   * Returns whether the entry has left and the store contains it again, because the store was rolled back. No client will remove such an entry, and
   * it blocks all entries behind it.
   */
  #isForgotten(entry: Found): boolean {
    return !this.#settings.pendingEnqueues.has(entry) && !this.#inherited.has(refOf(entry));
  }
}
