/** Runs calls one after the other, in the order in which they were made. A call that rejects does not stop the later ones. */
export class Lane {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` once all earlier calls have settled. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

/** Runs `work` when all earlier calls in each of these instances have settled. Later calls in any of them wait until `work` has settled. */
export function runInAll<T>(lanes: readonly Lane[], work: () => Promise<T>): Promise<T> {
  const [first, ...others] = lanes;
  return first ? first.run(() => runInAll(others, work)) : work();
}
