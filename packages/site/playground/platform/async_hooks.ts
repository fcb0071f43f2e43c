/** No browser follows a call chain through promises, so entering again what one holds is not noticed here. */
export class AsyncLocalStorage<T> {
  getStore(): T | undefined {
    return undefined;
  }

  run<R>(_store: T, work: () => R): R {
    return work();
  }
}

/** Runs work at once: there is no context to keep. */
export class AsyncResource {
  static bind<F>(work: F): F {
    return work;
  }

  runInAsyncScope<R>(work: () => R): R {
    return work();
  }
}
