// Chapter base: which tools know nothing of MySQL?
// So many steps at a time (here); the vocabulary of streams (rx).

interface Waiting {
  readonly enter: () => void;
  readonly reject: (error: unknown) => void;
}

/** So many steps are on their way at a time; the others wait in line. */
export class Gate {
  readonly #room: number;
  readonly #line = new Set<Waiting>();
  #inside = 0;

  constructor(room: number) {
    this.#room = room;
  }

  /** Resolves when there is room. Whoever has entered leaves. */
  async enter(): Promise<void> {
    if (this.#inside < this.#room) {
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
