interface Wait {
  readonly holds: () => boolean;
  readonly end: () => void;
}

/**
 * Evaluates the conditions of a test after each event, which is reported by a call of the method `note`. So the test can wait for a condition instead
 * of a fixed time.
 */
export class Board {
  readonly #longestMs: number;
  readonly #waits = new Set<Wait>();

  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  /** Records that an event happened, and evaluates all conditions that tests wait for. */
  note(): void {
    for (const wait of [...this.#waits]) if (wait.holds()) wait.end();
  }

  /**
   * Resolves when the condition `holds` returns true. Evaluates it at once and after every event. Rejects
   * after the longest wait that the harness allows.
   */
  async until(what: string, holds: () => boolean): Promise<void> {
    if (holds()) return;
    let wait: Wait | undefined;
    const held = new Promise<void>((end) => {
      this.#waits.add((wait = { holds, end }));
    });
    try {
      await this.within(what, held);
    } finally {
      if (wait) this.#waits.delete(wait);
    }
  }

  /**
   * Returns the promise's result. Rejects when the promise takes longer than the harness allows for a single
   * wait.
   */
  async within<T>(what: string, promise: Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`waited ${this.#longestMs} ms in vain: ${what}`));
      }, this.#longestMs);
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
