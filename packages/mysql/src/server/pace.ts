import { backoffDelay, type Clock } from '@queuelock/core/backend';

/**
 * Minimum time in milliseconds between an attempt to connect and the next one, after a failure. So there are
 * at most five attempts in any second.
 */
const LEAST_BETWEEN_MS = 200;
const SPREAD_MS = 50;
const BACKOFF = { initialDelayMs: 50, maxDelayMs: 2_500 };
// A connection that breaks within this time in milliseconds counts as a failed attempt, which delays the next
// attempt.
const LASTING_MS = 1_000;

/**
 * Computes the delays before attempts to connect. The first delay after a connection broke is short. Failed
 * attempts are followed by exponential backoff. All delays have jitter.
 */
export class Pace {
  readonly #clock: Clock;
  readonly #leastBetweenMs: number;
  #attemptedAt = -Infinity;
  #failures = 0;

  /**
   * @param leastBetweenMs minimum time, in milliseconds, between two attempts to connect as long as no
   * attempt fails
   */
  constructor(clock: Clock, leastBetweenMs: number) {
    this.#clock = clock;
    this.#leastBetweenMs = leastBetweenMs;
  }

  get pauseMs(): number {
    const goesWell = this.#failures === 0;
    const apartMs = goesWell ? this.#leastBetweenMs : LEAST_BETWEEN_MS;
    const spreadMs = apartMs === 0 ? 0 : SPREAD_MS * this.#chance();
    const roomMs = this.#attemptedAt + apartMs + spreadMs - this.#clock.now();
    const pauseMs = goesWell ? 0 : backoffDelay(this.#failures - 1, BACKOFF, this.#clock);
    return Math.max(0, roomMs, pauseMs);
  }

  attempted(): void {
    this.#attemptedAt = this.#clock.now();
  }

  succeeded(): void {
    if (this.#leastBetweenMs === 0) this.#failures = 0;
  }

  failed(): void {
    this.#failures += 1;
  }

  /** Records that a connection broke. A connection that lasted less than 1 s counts as a failed attempt. */
  broke(): void {
    if (this.#clock.now() - this.#attemptedAt < LASTING_MS) this.failed();
    // All clients of a server lose their connections at the same moment, so the first delay has jitter too.
    else this.#failures = 1;
  }

  #chance(): number {
    return this.#clock.random?.() ?? Math.random();
  }
}
