import type { NodeChange } from './driver.ts';
import { Observable } from '../base/rx.ts';

/**
 * Notifies listeners of changes, by path. The cost of a notification does not depend on the number of
 * listeners on other paths.
 */
export class Routes<T> {
  readonly #listeners = new Map<string, Set<(change: T) => void>>();

  notify(path: string, change: T): void {
    for (const listener of [...(this.#listeners.get(path) ?? [])]) listener(change);
  }

  of(path: string): Observable<T> {
    return new Observable((subscriber) => {
      const listener = (change: T): void => {
        subscriber.next(change);
      };
      const listeners = this.#listeners.get(path) ?? new Set();
      this.#listeners.set(path, listeners.add(listener));
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && this.#listeners.get(path) === listeners) this.#listeners.delete(path);
      };
    });
  }
}

/** A change of the child `name` of a directory. */
export interface ChildChange {
  readonly name: string;
  readonly change: NodeChange;
}
