interface Wait {
  readonly holds: () => boolean;
  readonly end: () => void;
}

/** Collects notes of all events of a stage, so that a test waits for a state and not for a fixed time. */
export class Board {
  readonly #longestMs: number;
  readonly #waits = new Set<Wait>();

  constructor(longestMs: number) {
    this.#longestMs = longestMs;
  }

  /** Records that something happened. */
  note(): void {
    for (const wait of [...this.#waits]) if (wait.holds()) wait.end();
  }

  /** Resolves when `holds` returns true. Evaluates `holds` again at every note. */
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

  /** Resolves or rejects as the promise does, but rejects after the longest wait of the harness. */
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
