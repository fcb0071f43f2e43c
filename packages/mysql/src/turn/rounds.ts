import { withJitter, type RandomSource, type Clock } from '@queuelock/core/backend';

/** Shortest polling interval, in milliseconds. It applies while an entry is next in its queue and the queue changes. */
const SHORTEST_MS = 8;
const LONGEST_MS = 120;
/** Factor by which the interval grows after each poll that finds no change. */
const GROWTH = 1.5;

/**
 * Returns the delay before the next poll of waiting entries in milliseconds, with jitter.
 * @param inFront how many entries must leave before a waiting entry of this process may be admitted
 * @param quietRounds number of polls since the last change
 */
export function pauseOf(inFront: number, quietRounds: number, chance: RandomSource = {}): number {
  const first = SHORTEST_MS * Math.max(1, inFront);
  return withJitter(Math.min(LONGEST_MS, first * GROWTH ** quietRounds), chance);
}

/**
 * Result of a poll, or `undefined` when no entry of this process waits.
 * - `inFront`: minimum number of entries that must leave before a waiting entry of this process is admitted.
 * - `isQuiet`: whether nothing has changed since the last poll.
 */
export type Found = { readonly inFront: number; readonly isQuiet: boolean } | undefined;

/**
 * Polls the queues in which entries of this process wait. The interval is 8 ms while a queue changes and one
 * entry is ahead. It grows with the entries ahead and without changes, up to 120 ms.
 */
export class Rounds {
  readonly #clock: Clock;
  readonly #round: () => Promise<Found>;
  #cancel: (() => void) | undefined;
  #at = Infinity;
  #quietRounds = 0;
  #isUnderWay = false;
  #inFront = Infinity;
  #isClosed = false;

  /**
   * @param round polls the queues once. It must not reject: after a failed read, the next poll reads again
   */
  constructor(clock: Clock, round: () => Promise<Found>) {
    this.#clock = clock;
    this.#round = round;
  }

  /** Starts polling for an entry that may be admitted after `inFront` entries have left. */
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
