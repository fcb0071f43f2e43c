import { Observable, type Subscribable } from './rx.ts';

/** Returns an Observable of a source that takes less memory than one. The source is subscribed to once, so the Observable is too. */
export function observableOf<T>(source: Subscribable<T>): Observable<T> {
  return new Observable((subscriber) => source.subscribe(subscriber));
}
