import { backoffDelay, type Clock } from '@queuelock/core/backend';

// Before an attempt, in the second before it: a handle of the C client whose first connection comes to nothing makes a second one
// before it can be stopped, and that makes five.
const MAX_BEFORE = 3;
// The longest leaves several attempts to the shortest session.
const BACKOFF = { initialDelayMs: 125, maxDelayMs: 750 };
const SPREAD_MS = 100;
// A connection that has been up for so long was no attempt that failed.
const LASTING_MS = 1_000;

/**
 * When to try to connect again: at most five connections are made in any second, whatever the servers do. Between attempts that
 * come to nothing pauses grow from an eighth of a second to three quarters of one. All are of chance, so that clients which lost a
 * member at one moment do not come to the next one at one moment.
 */
export class Pace {
  readonly #clock: Clock;
  /** When the last connections were made. */
  #made: readonly number[] = [];
  /** Attempts in a row that came to nothing. */
  #failures = 0;
  #notBefore = -Infinity;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds until the next attempt. */
  get pauseMs(): number {
    return Math.max(0, this.#notBefore - this.#clock.now());
  }

  /** A handle connects. */
  attempted(): void {
    this.#note();
  }

  /** It was given up. `again`: it may have connected a second time. */
  failed({ again }: { readonly again: boolean }): void {
    if (again) this.#note();
    this.#failures += 1;
    this.#wait(backoffDelay(this.#failures - 1, BACKOFF, this.#clock));
  }

  /** A connection broke that had been up for so long. One that did not last is an attempt that failed. */
  broke(upMs: number): void {
    if (upMs < LASTING_MS) {
      this.failed({ again: false });
      return;
    }
    this.#failures = 0;
    this.#wait(this.#spread());
  }

  #note(): void {
    this.#made = [...this.#made.slice(-MAX_BEFORE), this.#clock.now()];
  }

  /** Waits so long, and until few enough were made in the last second. */
  #wait(ms: number): void {
    const oldest = this.#made.length > MAX_BEFORE ? this.#made[0] : undefined;
    const room = oldest === undefined ? -Infinity : oldest + 1_000 + this.#spread();
    this.#notBefore = Math.max(this.#clock.now() + ms, room);
  }

  #spread(): number {
    return SPREAD_MS * (this.#clock.random?.() ?? Math.random());
  }
}
