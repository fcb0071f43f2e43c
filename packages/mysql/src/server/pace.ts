import { backoffDelay, type Clock } from '@queuelock/core/backend';

/** So that there are at most five attempts in any second. */
const LEAST_BETWEEN_MS = 200;
const SPREAD_MS = 50;
const BACKOFF = { initialDelayMs: 50, maxDelayMs: 2_500 };
// A connection that has been up for so long was no attempt that failed.
const LASTING_MS = 1_000;

/** When to connect again: soon after a connection has broken, later and later when attempts come to nothing, and at chance. */
export class Pace {
  readonly #clock: Clock;
  readonly #leastBetweenMs: number;
  #attemptedAt = -Infinity;
  #failures = 0;

  /** `leastBetweenMs`: as long as all goes well. */
  constructor(clock: Clock, leastBetweenMs: number) {
    this.#clock = clock;
    this.#leastBetweenMs = leastBetweenMs;
  }

  /** Milliseconds until the next attempt. */
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
