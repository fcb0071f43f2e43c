import type { OnTheirWay, ToldEntries } from '@queuelock/core/backend';
import type { Placed } from '../turn/waiting.ts';
import { textOf, type Value } from '../queue/sql.ts';
import type { Answer } from '../server/steps.ts';

interface Settings {
  readonly entries: ToldEntries<Placed>;
  readonly onTheirWay: OnTheirWay;
  /** Entries up to that number are of those who had the session before. */
  readonly inherited: number;
  /** How many of the session's entries had been taken out by others when it was opened here. */
  readonly lost: number;
  readonly step: (procedure: string, ...values: readonly Value[]) => Promise<Answer>;
  readonly nextCall: () => number;
}

interface Found {
  readonly queue: string;
  readonly ord: string;
  readonly id: string;
  readonly admitted: boolean;
}

/** Finds out what a session has missed, and what the store has forgotten. */
export class Looks {
  readonly #settings: Settings;
  /** Inherited entries that have left. */
  readonly #leftBehind = new Set<string>();
  #lost: number;
  /** Entries that the store has of the session beside those that are known here, as of the last look. */
  #besides = 0;
  #isLooking = false;
  #isStale = false;
  #hasToLook: boolean;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#lost = settings.lost;
    this.#hasToLook = settings.inherited > 0;
  }

  left({ ord }: Placed): void {
    if (Number(ord) <= this.#settings.inherited) this.#leftBehind.add(ord);
  }

  /** By what a renewal answered: how many were taken out, and how many are there. */
  judge(lost: number, count: number): void {
    if (this.#hasToLook || lost !== this.#lost || count !== this.#settings.entries.size + this.#besides)
      this.around();
  }

  /** By what a round has seen. */
  judgeLost(lost: number): void {
    if (lost !== this.#lost) this.around();
  }

  /** Looks at all its entries. One look at a time, and one more if there is another reason meanwhile. */
  around(): void {
    this.#isStale = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    this.#hasToLook = false;
    void this.#lookAll();
  }

  async #lookAll(): Promise<void> {
    try {
      while (this.#isStale) {
        this.#isStale = false;
        await this.#look();
      }
    } catch {
      // Soon after the next renewal.
      this.#hasToLook = true;
    }
    this.#isLooking = false;
  }

  async #look(): Promise<void> {
    const { entries, step, nextCall } = this.#settings;
    const call = nextCall();
    const { rows, row } = await step('look');
    const [session, ...rest] = [...rows, row];
    const found = rest.map(foundIn);
    entries.look(call, new Map(found.map(({ ord, admitted }) => [ord, admitted])));
    this.#lost = Number(session.a);
    this.#besides = found.filter(({ ord }) => !entries.knows(ord)).length;
    for (const { queue, id } of found.filter((entry) => this.#isForgotten(entry)))
      await step('leave', queue, id, 0);
  }

  /** It has left, and the store went back to when it was there: nobody owns it, and all wait behind it. */
  #isForgotten(entry: Found): boolean {
    const { entries, onTheirWay, inherited } = this.#settings;
    if (entries.knows(entry.ord) || onTheirWay.has(entry)) return false;
    return Number(entry.ord) > inherited || this.#leftBehind.has(entry.ord);
  }
}

function foundIn({ a, b, c, d }: Answer['row']): Found {
  return { queue: textOf(a), ord: String(b), id: String(c), admitted: Number(d) === 1 };
}
