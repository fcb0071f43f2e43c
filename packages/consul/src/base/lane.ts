/** Runs calls one after another, in the order in which they were made. When a call rejects, the later calls still run. */
export class Lane {
  #last: Promise<unknown> = Promise.resolve();

  /** Runs `work` once all earlier calls have settled. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }
}

/** Runs `work` when all earlier calls in each of `lanes` have settled. Later calls in any of them wait until `work` has settled. */
export function runInAll<T>(lanes: readonly Lane[], work: () => Promise<T>): Promise<T> {
  const [first, ...others] = lanes;
  return first ? first.run(() => runInAll(others, work)) : work();
}
