/** No browser follows a call chain through promises, so entering again what one holds is not noticed here. */
export class AsyncLocalStorage<T> {
  getStore(): T | undefined {
    return undefined;
  }

  run<R>(_store: T, work: () => R): R {
    return work();
  }
}
