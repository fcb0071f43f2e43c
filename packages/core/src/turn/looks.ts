import type { EntryName, OnTheirWay } from '../kit/on-their-way.ts';
import type { PlacedEntry, ToldEntries } from './told-entries.ts';

/** An entry of a session, as the store has it. */
export interface FoundEntry extends EntryName {
  /** As in `PlacedEntry`. */
  readonly ord: PlacedEntry['ord'];
  readonly admitted: boolean;
}

/** At what is looked, and how. */
export interface LooksSettings<Found extends FoundEntry> {
  readonly entries: ToldEntries<PlacedEntry & Pick<Found, 'ord'>>;
  readonly onTheirWay: OnTheirWay;
  /** Entries up to that number are of those who had the session before; 0 when it was opened here. */
  readonly inherited: number;
  /** All entries of the session. */
  readonly look: () => Promise<readonly Found[]>;
  /** Removes one that nobody owns any more. */
  readonly remove: (entry: Found) => Promise<unknown>;
  /** The number of the next call, as in `PlacedEntry`. */
  readonly nextCall: () => number;
}

/** Finds out what a session has missed, and what the store has forgotten. */
export class Looks<Found extends FoundEntry> {
  readonly #settings: LooksSettings<Found>;
  #inherited: number;
  /** Inherited entries that have left. */
  readonly #leftBehind = new Set<Found['ord']>();
  #besides: readonly Found[] | undefined = [];
  #hasEntered = false;
  #isLooking = false;
  #isStale = false;

  constructor(settings: LooksSettings<Found>) {
    this.#settings = settings;
    this.#inherited = settings.inherited;
  }

  /**
   * What the store had at the last look beside what was known here: entries that were inherited and not asked for, or were on their way.
   * undefined after a look that failed: there is a reason to look again.
   */
  get besides(): readonly Found[] | undefined {
    return this.#besides;
  }

  /** From now on there is something to look at. */
  entered(): void {
    this.#hasEntered = true;
  }

  /** An entry of the session has left. */
  left({ ord }: Pick<Found, 'ord'>): void {
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
  around(): void {
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
      this.#besides = undefined;
    }
    this.#isLooking = false;
  }

  async #look(): Promise<void> {
    const { entries, look, remove, nextCall } = this.#settings;
    const call = nextCall();
    const found = await look();
    entries.look(call, new Map(found.map(({ ord, admitted }) => [ord, admitted])));
    const unknown = found.filter(({ ord }) => !entries.knows(ord));
    const forgotten = new Set(unknown.filter((entry) => this.#isForgotten(entry)));
    this.#besides = unknown.filter((entry) => !forgotten.has(entry));
    for (const entry of forgotten) await remove(entry);
  }

  /** It has left, and the store went back to when it was there: nobody owns it, and all wait behind it. */
  #isForgotten(entry: Found): boolean {
    if (this.#settings.onTheirWay.has(entry)) return false;
    return Number(entry.ord) > this.#inherited || this.#leftBehind.has(entry.ord);
  }
}
