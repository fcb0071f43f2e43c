import type { Clock } from '@queuelock/core';

/** The settings of an `IdleDetector`. */
export interface IdleDetectorTools {
  readonly clock: Clock;
  /** Longest silence of a page that is still alive, in milliseconds. */
  readonly graceMs: number;
}

/** How a page proves that it is alive: by touches, which are periodic requests, or by its open stream. */
export type Sign = 'touch' | 'stream';

const CHECKS_PER_GRACE = 4;

/**
 * Detects that a page no longer proves that it is alive. Touches are the proof, because a stream to a dead
 * page may look open for minutes. For a client that cannot send touches, its open stream is the proof. The
 * silence is reported at the latest 1.25 times the grace after the last proof.
 */
export class IdleDetector {
  readonly #tools: IdleDetectorTools;
  readonly #onIdle: () => void;
  #seenAt: number;
  #sign: Sign;
  #streams = 0;
  #wasIdle = false;
  #cancel: () => void;

  constructor(sign: Sign, tools: IdleDetectorTools, onTooLong: () => void) {
    this.#sign = sign;
    this.#tools = tools;
    this.#onIdle = onTooLong;
    this.#seenAt = tools.clock.now();
    this.#cancel = this.#scheduleCheck();
  }

  touch(): void {
    this.#sign = 'touch';
    this.#noteSign();
  }

  /** Counts an open stream as proof that the page is alive, until the returned function is called. */
  openStream(): () => void {
    this.#streams += 1;
    this.#noteSign();
    return () => {
      this.#streams -= 1;
      this.#noteSign();
    };
  }

  stop(): void {
    this.#cancel();
  }

  #noteSign(): void {
    this.#seenAt = this.#tools.clock.now();
  }

  #scheduleCheck(): () => void {
    const { clock, graceMs } = this.#tools;
    return clock.after(graceMs / CHECKS_PER_GRACE, () => {
      this.#check();
    });
  }

  #check(): void {
    const { clock, graceMs } = this.#tools;
    if (this.#streams > 0 && this.#sign === 'stream') this.#noteSign();
    const isIdle = clock.now() - this.#seenAt >= graceMs;
    // After a freeze of this process, a late timer fires before the process reads touches that arrived
    // meanwhile. So a page counts as silent only when two timers in a row find no touch.
    if (isIdle && this.#wasIdle) {
      this.#onIdle();
      return;
    }
    this.#wasIdle = isIdle;
    this.#cancel = this.#scheduleCheck();
  }
}
