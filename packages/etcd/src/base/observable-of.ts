import { Observable, type Subscribable } from './rx.ts';

/** Returns an Observable of a source. A source takes less memory than an Observable. It can be subscribed to only once, so the Observable can too. */
export function observableOf<T>(source: Subscribable<T>): Observable<T> {
  return new Observable((subscriber) => source.subscribe(subscriber));
}
