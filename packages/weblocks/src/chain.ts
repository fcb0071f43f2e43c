/**
 * Runs steps (requests to the store) one after the other, in the order in which they were added. A step
 * starts when the outcome of the step before it is certain. So no lock request overtakes an earlier request
 * of the same client, whatever their names.
 */
export class Chain {
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Runs `work` after the previous step. A step that fails does not block the next one.
   * @returns the result of `work`
   */
  step<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => undefined);
    return done;
  }
}
