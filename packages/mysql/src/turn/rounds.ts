import { withJitter, type RandomSource, type Clock } from '@queuelock/core/backend';

/** Whoever is next asks so often at first. */
const SHORTEST_MS = 8;
const LONGEST_MS = 120;
/** After each round in which nothing has happened. */
const GROWTH = 1.5;

/** The time until the next round of one who has so many in front, after so many rounds in which nothing has happened; at chance. */
export function pauseOf(inFront: number, quietRounds: number, chance: RandomSource = {}): number {
  const first = SHORTEST_MS * Math.max(1, inFront);
  return withJitter(Math.min(LONGEST_MS, first * GROWTH ** quietRounds), chance);
}

/** What a round has found: how many are in front where it is the fewest, and whether anything has changed. `undefined`: nobody waits. */
export type Found = { readonly inFront: number; readonly isQuiet: boolean } | undefined;

/** Asks again and again for as long as somebody waits: often while there is movement and the turn is near, seldom when not. */
export class Rounds {
  readonly #clock: Clock;
  readonly #round: () => Promise<Found>;
  #cancel: (() => void) | undefined;
  #at = Infinity;
  #quietRounds = 0;
  #isUnderWay = false;
  #inFront = Infinity;
  #isClosed = false;

  /** `round` asks; what it cannot find now is found in the next round. */
  constructor(clock: Clock, round: () => Promise<Found>) {
    this.#clock = clock;
    this.#round = round;
  }

  /** Somebody waits, with so many in front. */
  begin(inFront: number): void {
    if (inFront < this.#inFront) this.#quietRounds = 0;
    this.#inFront = Math.min(this.#inFront, inFront);
    if (!this.#isUnderWay) this.#arm();
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel?.();
  }

  #arm(): void {
    const pauseMs = pauseOf(this.#inFront, this.#quietRounds, this.#clock);
    const at = this.#clock.now() + pauseMs;
    if (this.#isClosed || at >= this.#at) return;
    this.#cancel?.();
    this.#at = at;
    this.#cancel = this.#clock.after(pauseMs, () => void this.#go());
  }

  async #go(): Promise<void> {
    this.#at = Infinity;
    this.#isUnderWay = true;
    this.#inFront = Infinity;
    const found = await this.#round();
    this.#isUnderWay = false;
    if (found) {
      this.#quietRounds = found.isQuiet ? this.#quietRounds + 1 : 0;
      this.#inFront = Math.min(this.#inFront, found.inFront);
    } else this.#quietRounds = 0;
    if (this.#inFront < Infinity) this.#arm();
  }
}
