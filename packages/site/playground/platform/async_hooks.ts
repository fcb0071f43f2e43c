/**
 * Replaces Node's `AsyncLocalStorage` by a class that stores nothing, because browsers cannot follow a call
 * chain through promises. So the client does not notice when a holder requests its own lock again.
 */
export class AsyncLocalStorage<T> {
  getStore(): T | undefined {
    return undefined;
  }

  run<R>(_store: T, work: () => R): R {
    return work();
  }
}

/**
 * Replaces Node's `AsyncResource`. Calls functions directly, since a browser has no asynchronous context to
 * restore.
 */
export class AsyncResource {
  static bind<F>(work: F): F {
    return work;
  }

  runInAsyncScope<R>(work: () => R): R {
    return work();
  }
}
