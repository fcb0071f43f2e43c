import type { Clock } from '@queuelock/core';
import { backoffDelay } from '@queuelock/core/backend';

const FLOOR = { initialDelayMs: 100, maxDelayMs: 2_000 };

/** Spaces the terms of one candidate, so that work which returns at once does not campaign all the time. */
export class Pace {
  readonly #clock: Clock;
  #shortTerms = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns how long to wait after a term of that length, in milliseconds: the rest of a minimum that grows with each short term in a row.
   */
  restAfter(termMs: number): number {
    const floorMs = backoffDelay(this.#shortTerms, FLOOR, this.#clock);
    const restMs = Math.max(0, Math.round(floorMs - termMs));
    this.#shortTerms = restMs > 0 ? this.#shortTerms + 1 : 0;
    return restMs;
  }
}
