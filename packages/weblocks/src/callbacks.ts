/** A request that waits for its callback. */
export interface Waiting {
  /** Its turn has come: `run` is called, at once or when those that were asked for before it have been. */
  ready(run: () => void): void;
  /** It waits no more. */
  leave(): void;
}

interface Place {
  /** Those of one name keep their order; `undefined`: it has none to keep. */
  readonly name: string | undefined;
  run: (() => void) | undefined;
}

/**
 * Runs callbacks in the order of their requests. Of what is granted in one turn of the event loop that holds across names. Of one name it
 * holds always: what is granted to a later request has been granted to the earlier ones too, whose news is under way.
 */
export class Callbacks {
  /** In the order of the requests. */
  readonly #places = new Set<Place>();
  #called = false;

  enter(name: string | undefined): Waiting {
    const place: Place = { name, run: undefined };
    this.#places.add(place);
    return {
      ready: (run) => {
        place.run = run;
        this.#call();
      },
      leave: () => {
        if (this.#places.delete(place)) this.#call();
      },
    };
  }

  /** In the next turn of the event loop, when all that came in this one is known. */
  #call(): void {
    if (this.#called) return;
    this.#called = true;
    setImmediate(() => {
      this.#called = false;
      for (const run of this.#due()) run();
    });
  }

  #due(): readonly (() => void)[] {
    const waiting = new Set<string>();
    const due: (() => void)[] = [];
    for (const place of this.#places) {
      const { name, run } = place;
      if (!run) {
        if (name !== undefined) waiting.add(name);
      } else if (name === undefined || !waiting.has(name)) {
        this.#places.delete(place);
        due.push(run);
      }
    }
    return due;
  }
}
