import type { Clock } from '@queuelock/core';

/** Dependencies of `IdleDetector`. */
export interface IdleDetectorTools {
  readonly clock: Clock;
  /** Longest silence of a page that is still alive, in milliseconds. */
  readonly graceMs: number;
}

/** Signal by which a page proves that it is alive. */
export type Sign = 'touch' | 'stream';

const STEPS = 4;

/**
 * Detects that a page has gone silent. A page is judged by its touches, because a stream to a dead page may look open for
 * minutes. A client that cannot send touches is judged by its stream. Reports at most a quarter of the grace after the grace has
 * ended.
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

  /** Records an open stream of the page until the returned function is called. */
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
    // After a freeze of this process, a late timer fires before the touches are read that arrived meanwhile. So the silence must
    // last for two timers.
    if (isTooLong && this.#wasTooLong) {
      this.#onTooLong();
      return;
    }
    this.#wasTooLong = isTooLong;
    this.#cancel = this.#later();
  }
}
