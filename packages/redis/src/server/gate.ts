interface Waiting {
  readonly enter: () => void;
  readonly reject: (error: unknown) => void;
}

// Some milliseconds of a server's time: more at once are answered no sooner, and the last of thousands too late.
const AT_ONCE = 64;

/** So many commands are on their way at a time; the others wait in line. */
export class Gate {
  readonly #line = new Set<Waiting>();
  #inside = 0;

  /** Resolves when there is room. Whoever has entered leaves. */
  async enter(): Promise<void> {
    if (this.#inside < AT_ONCE) {
      this.#inside += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      this.#line.add({ enter: resolve, reject });
    });
  }

  leave(): void {
    const [next] = this.#line;
    if (!next) {
      this.#inside -= 1;
      return;
    }
    this.#line.delete(next);
    next.enter();
  }

  /** Nobody is answered: whoever waits need not try. */
  giveUp(error: unknown): void {
    for (const { reject } of this.#line) reject(error);
    this.#line.clear();
  }
}
