import { AsyncResource } from 'node:async_hooks';
import { Observable, type Subscriber } from './rx.ts';

const TYPE = 'queuelock.caller';

/**
 * Returns a stream that emits to each subscriber in the asynchronous context in which it subscribed. Sessions, watches and timers are shared, so a
 * value otherwise arrives in the context of another caller, and `AsyncLocalStorage` would return that caller's tenant or trace.
 */
export function inCallerContext<T>(source$: Observable<T>): Observable<T> {
  return new Observable((subscriber) => source$.subscribe(new ContextObserver(subscriber)));
}

/**
 * Passes a stream to a subscriber in the asynchronous context in which this object was created. Each wait has such an object, so the object has no
 * closures, which would take more memory.
 */
export class ContextObserver<T> {
  // `AsyncLocalStorage.snapshot()` would have the same effect as this `AsyncResource`, but takes a hundred times as long on Node 20.
  readonly #caller = new AsyncResource(TYPE);
  readonly #subscriber: Subscriber<T>;

  constructor(subscriber: Subscriber<T>) {
    this.#subscriber = subscriber;
  }

  next(value: T): void {
    this.#caller.runInAsyncScope(next<T>, undefined, this.#subscriber, value);
  }

  error(cause: unknown): void {
    this.#caller.runInAsyncScope(error, undefined, this.#subscriber, cause);
  }

  complete(): void {
    this.#caller.runInAsyncScope(complete, undefined, this.#subscriber);
  }
}

function next<T>(subscriber: Subscriber<T>, value: T): void {
  subscriber.next(value);
}

function error(subscriber: Subscriber<unknown>, cause: unknown): void {
  subscriber.error(cause);
}

function complete(subscriber: Subscriber<unknown>): void {
  subscriber.complete();
}

/** Returns a stream that subscribes to `source$` in the asynchronous context of this call, even if another caller subscribes. */
export function subscribedByCaller<T>(source$: Observable<T>): Observable<T> {
  const caller = new AsyncResource(TYPE);
  return new Observable((subscriber) => caller.runInAsyncScope(() => source$.subscribe(subscriber)));
}

/** Returns a function that runs `call` in the asynchronous context of this call. */
export function boundToCaller<Args extends unknown[], R>(call: (...args: Args) => R): (...args: Args) => R {
  const caller = new AsyncResource(TYPE);
  return (...args) => caller.runInAsyncScope(() => call(...args));
}

/** An `AbortController` whose listeners run in the asynchronous context of its creation, even when other code aborts it. */
export class CallerAbortController {
  readonly #controller = new AbortController();
  readonly #caller = new AsyncResource(TYPE);

  /** The signal. Its listeners run in the context in which the controller was created. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Aborts the signal, like `AbortController.abort`. */
  abort(reason: unknown): void {
    this.#caller.runInAsyncScope(() => {
      this.#controller.abort(reason);
    });
  }
}
