import type { OnTheirWay, ToldEntries } from '@queuelock/core/backend';
import type { Placed } from '../turn/placed.ts';
import { foundIn, type Found } from '../queue/found.ts';
import type { Script } from '../lua/script.ts';
import { SCRIPTS } from '../queue/scripts.ts';
import type { Answer } from '../server/steps.ts';

/** `#ttl`, `#generation`, `#inbox`, `#news` */
const NOTES = 4;

interface Settings {
  readonly entries: ToldEntries<Placed>;
  readonly onTheirWay: OnTheirWay;
  /** How many news the store has told so far. */
  readonly news: number;
  /** Entries up to that number are of those who had the session before. */
  readonly inherited: number;
  readonly step: (script: Script, ...args: readonly string[]) => Promise<Answer>;
  readonly nextCall: () => number;
}

/** Finds out what a session has missed, and what the store has forgotten. */
export class Looks {
  readonly #settings: Settings;
  /** Inherited entries that have left. */
  readonly #leftBehind = new Set<string>();
  /** What the store remembers of the session beside its entries, as of the last look. */
  #besides = NOTES;
  #hasEntered = false;
  #isLooking = false;
  #isStale = false;
  #hasToLook = false;
  /** Number of the last one that was told, as far as is known. */
  #news: number;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#news = settings.news;
  }

  /** From now on there is something to look at. */
  entered(): void {
    this.#hasEntered = true;
  }

  /** News of that number came; those before it may have been missed. */
  heard(nth: number): void {
    const missed = nth > this.#news + 1;
    this.#news = Math.max(this.#news, nth);
    if (missed) this.around();
  }

  left(placed: Placed): void {
    if (Number(placed.ord) <= this.#settings.inherited) this.#leftBehind.add(placed.ord);
  }

  /** By what a renewal answered; `newest` was the newest entry before. */
  judge([, news, fields, isThere]: readonly unknown[], newest: Placed | undefined): void {
    const { entries } = this.#settings;
    const isGone = newest && isThere === 0 && entries.knows(newest.ord);
    const isAsKnown = Number(fields) === entries.size + this.#besides;
    // The store has told more than was heard, or has forgotten what it told.
    const hasMissed = Number(news) !== this.#news;
    if (this.#hasToLook || isGone || !isAsKnown || hasMissed) this.around();
  }

  /** Looks at all its entries: something may have been missed. One look at a time, and one more if there is another reason meanwhile. */
  around(): void {
    this.#isStale = true;
    if (this.#isLooking || !this.#hasEntered) return;
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
    const {
      rest: [news, fields, ...rows],
    } = await step(SCRIPTS.look);
    const found = foundIn(rows);
    this.#news = Number(news);
    entries.look(call, new Map(found.map(({ ord, admitted }) => [ord, admitted])));
    this.#besides = Number(fields) - entries.size;
    for (const { ord, queue, id } of found.filter((entry) => this.#isForgotten(entry)))
      await step(SCRIPTS.remove, queue, id, '0', ord);
  }

  /** It has left, and the store went back to when it was there: nobody owns it, and all wait behind it. */
  #isForgotten(entry: Found): boolean {
    const { entries, onTheirWay, inherited } = this.#settings;
    if (entries.knows(entry.ord) || onTheirWay.has(entry)) return false;
    return Number(entry.ord) > inherited || this.#leftBehind.has(entry.ord);
  }
}
