import type { Followers, Placed } from '../turn/followers.ts';
import { foundIn, type Found } from '../queue/found.ts';
import type { Script } from '../lua/script.ts';
import type { OnTheirWay } from './on-their-way.ts';
import { SCRIPTS } from '../queue/scripts.ts';
import type { Answer } from '../server/steps.ts';

/** `#ttl`, `#generation`, `#inbox`, `#news` */
const NOTES = 4;

interface Settings {
  readonly followers: Followers;
  readonly onTheirWay: OnTheirWay;
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

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** From now on there is something to look at. */
  entered(): void {
    this.#hasEntered = true;
  }

  left(placed: Placed): void {
    if (Number(placed.ord) <= this.#settings.inherited) this.#leftBehind.add(placed.ord);
  }

  /** By what a renewal answered; `newest` was the newest entry before. */
  judge([, news, fields, isThere]: readonly unknown[], newest: Placed | undefined): void {
    const { followers } = this.#settings;
    const isGone = newest && isThere === 0 && followers.knows(newest.ord);
    const isAsKnown = Number(fields) === followers.size + this.#besides;
    if (this.#hasToLook || isGone || !isAsKnown || followers.hasMissed(Number(news))) this.around();
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
    const { followers, step, nextCall } = this.#settings;
    const call = nextCall();
    const {
      rest: [news, fields, ...rows],
    } = await step(SCRIPTS.look);
    const found = foundIn(rows);
    followers.look(call, new Map(found.map(({ ord, admitted }) => [ord, admitted])), Number(news));
    this.#besides = Number(fields) - followers.size;
    for (const { ord, queue, id } of found.filter((entry) => this.#isForgotten(entry)))
      await step(SCRIPTS.remove, queue, id, '0', ord);
  }

  /** It has left, and the store went back to when it was there: nobody owns it, and all wait behind it. */
  #isForgotten(entry: Found): boolean {
    const { followers, onTheirWay, inherited } = this.#settings;
    if (followers.knows(entry.ord) || onTheirWay.has(entry)) return false;
    return Number(entry.ord) > inherited || this.#leftBehind.has(entry.ord);
  }
}
