/**
 * Steps that go to the store one after the other, in the order in which they were asked for: none is sent before the one ahead is
 * certain. One request cannot overtake another one of the same client on its way, whatever the names.
 */
export class Chain {
  #last: Promise<unknown> = Promise.resolve();

  /** Answers what the step answers. A step that fails does not keep the next one from its turn. */
  step<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}
