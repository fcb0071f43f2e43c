import { Observable, type Subscribable } from './rx.ts';

/**
 * Converts an object with a method `subscribe` to an Observable, so that RxJS operators can be applied. Such an object takes less memory, but can be
 * subscribed to only once. The same holds for the returned Observable.
 */
export function observableOf<T>(source: Subscribable<T>): Observable<T> {
  return new Observable((subscriber) => source.subscribe(subscriber));
}
