import { backoffDelay, type Clock } from '@queuelock/core/backend';

/** Minimum time between attempts to connect, in milliseconds. The two connections of a backend together make at most five attempts in any second. */
const LEAST_BETWEEN_MS = 500;
const BACKOFF = { initialDelayMs: 50, maxDelayMs: 2_500 };
// A connection that breaks within this time after it was made, in milliseconds, counts as a failed attempt.
const LASTING_MS = 1_000;

/** Reconnect delays: short after a connection broke, with exponential backoff after failed attempts, and with jitter. */
export class Pace {
  readonly #clock: Clock;
  #attemptedAt = -Infinity;
  #failures = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds until the next attempt to connect. */
  get pauseMs(): number {
    const spread = LEAST_BETWEEN_MS + 100 * this.#chance();
    const room = this.#attemptedAt + spread - this.#clock.now();
    const pause = this.#failures === 0 ? 0 : backoffDelay(this.#failures - 1, BACKOFF, this.#clock);
    return Math.max(0, room, pause);
  }

  attempted(): void {
    this.#attemptedAt = this.#clock.now();
  }

  failed(): void {
    this.#failures += 1;
  }

  /** Records that a connection broke. A connection that lasted less than 1 s counts as a failed attempt. */
  broke(): void {
    if (this.#clock.now() - this.#attemptedAt < LASTING_MS) this.failed();
    // All clients of a server lose their connections at the same moment, so the first reconnect delay has
    // jitter too.
    else this.#failures = 1;
  }

  #chance(): number {
    return this.#clock.random?.() ?? Math.random();
  }
}
