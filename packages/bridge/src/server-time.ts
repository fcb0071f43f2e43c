import type { Clock } from '@queuelock/core';

/**
 * Milliseconds since 1970 for display. It starts with the time of day and then follows the monotonic clock,
 * so it never goes back.
 */
export class ServerTime {
  readonly #clock: Clock;
  readonly #offset: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    // eslint-disable-next-line no-restricted-syntax -- the time of day is only displayed
    this.#offset = Date.now() - clock.now();
  }

  now(): number {
    return Math.round(this.#offset + this.#clock.now());
  }
}
