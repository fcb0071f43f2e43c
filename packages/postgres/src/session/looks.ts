import type { OnTheirWay, ToldEntries } from '@queuelock/core/backend';
import { sumOf, type Placed } from '../turn/placed.ts';
import { textOf } from '../queue/text.ts';

/** An entry of a session, as the store has it. */
export interface Found {
  readonly ord: number;
  readonly admitted: boolean;
  readonly id: string;
  readonly queue: string;
}

interface Settings {
  readonly entries: ToldEntries<Placed>;
  readonly onTheirWay: OnTheirWay;
  /** Entries up to that number are of those who had the session before. */
  readonly inherited: number;
  /** All entries of the session. */
  readonly look: () => Promise<readonly Found[]>;
  /** Removes one that nobody owns any more. */
  readonly remove: (entry: Found) => Promise<unknown>;
  readonly nextCall: () => number;
}

/** Finds out what a session has missed, and what the store has forgotten. */
export class Looks {
  readonly #settings: Settings;
  /** Inherited entries that have left. */
  readonly #leftBehind = new Set<number>();
  /** What the store has beside what is known here: entries that were inherited and not asked for. */
  #besides = { there: 0n, waiting: 0n };
  #hasEntered = false;
  #isLooking = false;
  #isStale = false;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** From now on there is something to look at. */
  entered(): void {
    this.#hasEntered = true;
  }

  left({ ord }: Placed): void {
    if (ord <= this.#settings.inherited) this.#leftBehind.add(ord);
  }

  /** By the sums that a renewal answered. */
  judge({ there, waiting }: { readonly there: string; readonly waiting: string }): void {
    const { entries } = this.#settings;
    if (
      BigInt(there) !== sumOf(entries.all) + this.#besides.there ||
      BigInt(waiting) !== sumOf(entries.waiting) + this.#besides.waiting
    )
      this.around();
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
      // Sums that nothing has: the next renewal finds that there is something to look at.
      this.#besides = { there: -1n, waiting: -1n };
    }
    this.#isLooking = false;
  }

  async #look(): Promise<void> {
    const { entries, look, remove, nextCall } = this.#settings;
    const call = nextCall();
    const found = (await look()).map((entry) => ({ ...entry, queue: textOf(entry.queue) }));
    entries.look(call, new Map(found.map(({ ord, admitted }) => [ord, admitted])));
    const forgotten = found.filter((entry) => this.#isForgotten(entry));
    const unknown = found.filter((entry) => !entries.knows(entry.ord) && !forgotten.includes(entry));
    this.#besides = {
      there: sumOf(unknown),
      waiting: sumOf(unknown.filter(({ admitted }) => !admitted)),
    };
    for (const entry of forgotten) await remove(entry);
  }

  /** It has left, and the store went back to when it was there: nobody owns it, and all wait behind it. */
  #isForgotten(entry: Found): boolean {
    const { entries, onTheirWay, inherited } = this.#settings;
    if (entries.knows(entry.ord) || onTheirWay.has(entry)) return false;
    return entry.ord > inherited || this.#leftBehind.has(entry.ord);
  }
}
