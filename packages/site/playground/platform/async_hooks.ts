/**
 * Replaces Node's class by one that stores nothing, because browsers cannot follow a call chain through
 * promises. So the client does not notice when a holder requests its own lock again.
 */
export class AsyncLocalStorage<T> {
  getStore(): T | undefined {
    return undefined;
  }

  run<R>(_store: T, work: () => R): R {
    return work();
  }
}

/** Replaces Node's class: runs functions directly, since there is no context to restore. */
export class AsyncResource {
  static bind<F>(work: F): F {
    return work;
  }

  runInAsyncScope<R>(work: () => R): R {
    return work();
  }
}
