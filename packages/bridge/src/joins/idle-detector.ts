import type { Clock } from '@queuelock/core';

/** What tells for how long nothing was heard. */
export interface IdleDetectorTools {
  readonly clock: Clock;
  /** Silence that is borne. */
  readonly graceMs: number;
}

/** How a page shows that it is there. */
export type Sign = 'touch' | 'stream';

const STEPS = 4;

/**
 * Whether a page is still there, judged by its touches, since a stream to a page that is gone may look open for minutes; of one that cannot
 * touch, by its stream. Told when the grace is over, a quarter of it later at most.
 */
export class IdleDetector {
  readonly #tools: IdleDetectorTools;
  readonly #onTooLong: () => void;
  #heardAt: number;
  #sign: Sign;
  #streams = 0;
  #wasTooLong = false;
  #cancel: () => void;

  constructor(sign: Sign, tools: IdleDetectorTools, onTooLong: () => void) {
    this.#sign = sign;
    this.#tools = tools;
    this.#onTooLong = onTooLong;
    this.#heardAt = tools.clock.now();
    this.#cancel = this.#later();
  }

  touch(): void {
    this.#sign = 'touch';
    this.#hear();
  }

  /** A stream of the page is open until the answer is called. */
  openStream(): () => void {
    this.#streams += 1;
    this.#hear();
    return () => {
      this.#streams -= 1;
      this.#hear();
    };
  }

  stop(): void {
    this.#cancel();
  }

  #hear(): void {
    this.#heardAt = this.#tools.clock.now();
  }

  #later(): () => void {
    const { clock, graceMs } = this.#tools;
    return clock.after(graceMs / STEPS, () => {
      this.#look();
    });
  }

  #look(): void {
    const { clock, graceMs } = this.#tools;
    if (this.#streams > 0 && this.#sign === 'stream') this.#hear();
    const isTooLong = clock.now() - this.#heardAt >= graceMs;
    // A timer that is late, in a process that stood still, fires before the touches that came meanwhile are read: the second does not.
    if (isTooLong && this.#wasTooLong) {
      this.#onTooLong();
      return;
    }
    this.#wasTooLong = isTooLong;
    this.#cancel = this.#later();
  }
}
