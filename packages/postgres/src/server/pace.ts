import { backoffDelay, type Clock } from '@queuelock/core/backend';

const MAX_IN_A_SECOND = 5;
const BACKOFF = { initialDelayMs: 100, maxDelayMs: 2_500 };

/**
 * Computes the delays before attempts to connect. There is no delay at first. After failed attempts and
 * broken connections there is exponential backoff with jitter. There are at most five attempts in a second.
 */
export class Pace {
  readonly #clock: Clock;
  #attempts: readonly number[] = [];
  #failures = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get pauseMs(): number {
    const earliest = this.#attempts.length < MAX_IN_A_SECOND ? -Infinity : (this.#attempts[0] ?? -Infinity);
    const pause = this.#failures === 0 ? 0 : backoffDelay(this.#failures - 1, BACKOFF, this.#clock);
    return Math.max(0, earliest + 1_000 - this.#clock.now(), pause);
  }

  attempted(): void {
    this.#attempts = [...this.#attempts.slice(1 - MAX_IN_A_SECOND), this.#clock.now()];
  }

  succeeded(): void {
    this.#failures = 0;
  }

  /**
   * Records a failed attempt or a broken connection. Both delay the next attempt, because all clients of a
   * server lose their connections at the same moment. They should not all connect again at once.
   */
  failed(): void {
    this.#failures += 1;
  }
}
