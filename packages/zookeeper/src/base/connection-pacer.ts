import { backoffDelay, type Clock } from '@queuelock/core/backend';

// Maximum number of connections in the second before an attempt. The attempt itself may make two: if the
// first connection of a handle (a connection object of the C client) fails, the handle connects again before
// it can be stopped. So there are at most five connections in any second.
const MAX_RECENT_CONNECTIONS = 3;
// Backoff between failed attempts. With the longest delay, several attempts still fit into the shortest
// session.
const BACKOFF = { initialDelayMs: 125, maxDelayMs: 750 };
const JITTER_MS = 100;
// A connection that breaks within this time after it was made, in milliseconds, counts as a failed attempt.
const MIN_UPTIME_MS = 1_000;

/**
 * Limits how often clients connect: at most five connections in any second, whatever the servers do. Delays between failed attempts grow
 * from 125 ms to 750 ms. All delays have jitter, so that clients which have lost the same server do not reconnect at the same moment.
 */
export class ConnectionPacer {
  readonly #clock: Clock;
  /** The times at which clients made the latest connections, the oldest first. */
  #connectedAt: readonly number[] = [];
  /** The number of failed attempts to connect in a row. */
  #failures = 0;
  #notBefore = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The delay in milliseconds before the next attempt to connect. */
  get delayMs(): number {
    return Math.max(0, this.#notBefore - this.#clock.now());
  }

  /** Records that a client makes a connection. */
  recordAttempt(): void {
    this.#record();
  }

  /**
   * Records a failed attempt.
   * @param again whether the C client may have connected a second time in this attempt
   */
  recordFailure({ again }: { readonly again: boolean }): void {
    if (again) this.#record();
    this.#failures += 1;
    this.#delay(backoffDelay(this.#failures - 1, BACKOFF, this.#clock));
  }

  /**
   * Records that a connection broke, and for how many milliseconds it was up. A connection that was up for less than a second counts as a failed
   * attempt.
   */
  recordBreak(upMs: number): void {
    if (upMs < MIN_UPTIME_MS) {
      this.recordFailure({ again: false });
      return;
    }
    this.#failures = 0;
    this.#delay(this.#jitter());
  }

  #record(): void {
    this.#connectedAt = [...this.#connectedAt.slice(-MAX_RECENT_CONNECTIONS), this.#clock.now()];
  }

  /** Delays the next attempt by `ms`, or longer if too many connections were made in the last second. */
  #delay(ms: number): void {
    const oldest = this.#connectedAt.length > MAX_RECENT_CONNECTIONS ? this.#connectedAt[0] : undefined;
    const allowedAt = oldest === undefined ? -Infinity : oldest + 1_000 + this.#jitter();
    this.#notBefore = Math.max(this.#clock.now() + ms, allowedAt);
  }

  #jitter(): number {
    return JITTER_MS * (this.#clock.random?.() ?? Math.random());
  }
}
