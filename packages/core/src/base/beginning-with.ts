import { Observable, type MonoTypeOperatorFunction } from './rx.ts';

/**
 * Emits `first`, and then the values of the source. RxJS's `startWith` has the same result, but needs four times the allocations because it
 * concatenates two streams.
 */
export function beginningWith<T>(first: T): MonoTypeOperatorFunction<T> {
  return (source$) =>
    new Observable((subscriber) => {
      subscriber.next(first);
      if (!subscriber.closed) source$.subscribe(subscriber);
    });
}
