import { backoffDelay, type Clock } from '@queuelock/core/backend';

// Maximum number of connections in the second before an attempt. When the first connection of a C client handle fails, the handle makes a second
// connection before it can be stopped. So there are at most five connections in a second.
const MAX_RECENT_CONNECTIONS = 3;
// The longest delay still allows several attempts within the shortest session.
const BACKOFF = { initialDelayMs: 125, maxDelayMs: 750 };
const JITTER_MS = 100;
// A connection that lasted this long, in milliseconds, was not a failed attempt.
const MIN_UPTIME_MS = 1_000;

/**
 * Decides when to connect again: at most five connections are made in any second, whatever the servers do. Delays between failed attempts
 * grow from 125 ms to 750 ms. All delays have jitter. So clients that lost a member at the same moment do not connect to the next one at
 * the same moment.
 */
export class ConnectionPacer {
  readonly #clock: Clock;
  /** The times of the last connections. */
  #connectedAt: readonly number[] = [];
  /** The number of failed attempts in a row. */
  #failures = 0;
  #notBefore = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The delay in milliseconds before the next attempt. */
  get delayMs(): number {
    return Math.max(0, this.#notBefore - this.#clock.now());
  }

  /** Records that a handle connects. */
  recordAttempt(): void {
    this.#record();
  }

  /**
   * Records a failed attempt.
   * @param again whether the handle may have connected a second time
   */
  recordFailure({ again }: { readonly again: boolean }): void {
    if (again) this.#record();
    this.#failures += 1;
    this.#delay(backoffDelay(this.#failures - 1, BACKOFF, this.#clock));
  }

  /** Records that a connection broke, and how long it was up. A connection that broke early counts as a failed attempt. */
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
