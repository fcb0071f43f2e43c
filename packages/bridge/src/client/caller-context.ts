import { Observable } from '../rx.ts';

// Gets `node:async_hooks` from `process`, because an import would make bundlers for browsers look for it. A
// browser has no asynchronous contexts, so it needs none of these functions.
const node = (globalThis as { readonly process?: Partial<Pick<NodeJS.Process, 'getBuiltinModule'>> }).process;
const hooks = node?.getBuiltinModule?.('node:async_hooks');

/** A function that runs tasks in the asynchronous context of the code that created it. */
export type CallerScope = (task: () => void) => void;

/** Returns a function that runs tasks in the asynchronous context of the call of `callerScope`. */
export function callerScope(): CallerScope {
  if (!hooks) return (task) => task();
  const caller = new hooks.AsyncResource('queuelock.caller');
  return (task) => caller.runInAsyncScope(task);
}

/**
 * Returns a function that calls `call` in the asynchronous context in which `boundToCaller` was called, and
 * not in the context of the later caller.
 */
export function boundToCaller<T>(call: () => T): () => T {
  if (!hooks) return call;
  const caller = new hooks.AsyncResource('queuelock.caller');
  return () => caller.runInAsyncScope(call);
}

/**
 * Returns a stream that emits to each subscriber in the asynchronous context in which it subscribed.
 * Otherwise it would emit in the context of the page's one stream, on which all topics arrive.
 */
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
