import { backoffDelay, type Clock } from '@queuelock/core/backend';

/** Two connections, so that there are at most five attempts in any second. */
const LEAST_BETWEEN_MS = 500;
const BACKOFF = { initialDelayMs: 50, maxDelayMs: 2_500 };
// A connection that has been up for so long was no attempt that failed.
const LASTING_MS = 1_000;

/** When to connect again: soon after a connection has broken, later and later when attempts come to nothing, and at chance. */
export class Pace {
  readonly #clock: Clock;
  #attemptedAt = -Infinity;
  #failures = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds until the next attempt. */
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

  /** A connection broke. One that did not last is an attempt that failed. */
  broke(): void {
    if (this.#clock.now() - this.#attemptedAt < LASTING_MS) this.failed();
    // All of a server's clients lose it at one moment: the first pause is at chance, too.
    else this.#failures = 1;
  }

  #chance(): number {
    return this.#clock.random?.() ?? Math.random();
  }
}
