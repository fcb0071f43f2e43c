import { Observable } from '../rx.ts';

// Only Node has asynchronous contexts that values could leak between; a browser has no such module and bundles nothing for it.
const node = (globalThis as { readonly process?: Partial<Pick<NodeJS.Process, 'getBuiltinModule'>> }).process;
const hooks = node?.getBuiltinModule?.('node:async_hooks');

/** Runs a task in the asynchronous context in which the scope was made. */
export type CallerScope = (task: () => void) => void;

/** Returns the present asynchronous context. */
export function callerScope(): CallerScope {
  if (!hooks) return (task) => task();
  const caller = new hooks.AsyncResource('queuelock.caller');
  return (task) => caller.runInAsyncScope(task);
}

/** Returns the caller's function, which from now on runs in the present context. */
export function boundToCaller<T>(call: () => T): () => T {
  if (!hooks) return call;
  const caller = new hooks.AsyncResource('queuelock.caller');
  return () => caller.runInAsyncScope(call);
}

/** Emits to each subscriber in the asynchronous context in which it subscribed: all topics of a page come over one stream. */
export function inCallerContext<T>(source$: Observable<T>): Observable<T> {
  return new Observable((subscriber) => {
    const inScope = callerScope();
    return source$.subscribe({
      next: (value) => inScope(() => subscriber.next(value)),
      error: (error: unknown) => inScope(() => subscriber.error(error)),
      complete: () => inScope(() => subscriber.complete()),
    });
  });
}
