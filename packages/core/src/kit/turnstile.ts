interface Waiting {
  readonly enter: () => void;
  readonly reject: (error: unknown) => void;
}

/** So many requests are on their way to a store at a time; the others wait in line. */
export class Turnstile {
  readonly #room: number;
  readonly #line = new Set<Waiting>();
  #inside = 0;

  /** @param room how many at a time */
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

  /** The next in line enters. */
  leave(): void {
    const [next] = this.#line;
    if (!next) {
      this.#inside -= 1;
      return;
    }
    this.#line.delete(next);
    next.enter();
  }

  /** Nobody is answered: whoever waits need not try, and is rejected with this. */
  giveUp(error: unknown): void {
    for (const { reject } of this.#line) reject(error);
    this.#line.clear();
  }
}
