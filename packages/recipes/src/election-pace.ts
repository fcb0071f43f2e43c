import type { Clock } from '@queuelock/core';
import { backoffDelay } from '@queuelock/core/backend';

const FLOOR = { initialDelayMs: 100, maxDelayMs: 2_000 };

/**
 * Delays campaigns after terms that end early, so that work that returns at once does not campaign all the
 * time.
 */
export class Pace {
  readonly #clock: Clock;
  #shortTerms = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Returns how many milliseconds to wait after a term that lasted `termMs`, so that both together last at
   * least the backoff. Each term that is shorter than the backoff makes the next backoff longer. A longer
   * term resets it.
   */
  restAfter(termMs: number): number {
    const floorMs = backoffDelay(this.#shortTerms, FLOOR, this.#clock);
    const restMs = Math.max(0, Math.round(floorMs - termMs));
    this.#shortTerms = restMs > 0 ? this.#shortTerms + 1 : 0;
    return restMs;
  }
}
