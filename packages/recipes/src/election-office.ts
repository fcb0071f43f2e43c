import type { LockClient } from '@queuelock/core';
import type { Term } from './election-term.ts';
import {
  BehaviorSubject,
  combineLatest,
  distinctUntilChanged,
  endWith,
  map,
  takeWhile,
  type Observable,
} from './rx.ts';

/** Tracks the leaderships that the candidates of one `election` object have at present. */
export class Office {
  readonly #terms$ = new BehaviorSubject<readonly Term[]>([]);

  enter(term: Term): void {
    this.#terms$.next([...this.#terms$.value, term]);
    term.present$.subscribe({
      next: (present) => {
        if (!present) this.#terms$.next(this.#terms$.value.filter((other) => other !== term));
      },
      // Ignores errors, because the leadership's stream `present$` never errors.
      error: () => undefined,
    });
  }

  /**
   * Emits whether a candidate of this `election` object leads: at once, then after each change. Completes
   * when the client is closed.
   */
  isFilled({ session$ }: Pick<LockClient, 'session$'>): Observable<boolean> {
    const closed$ = session$.pipe(
      map(({ status }) => status === 'closed'),
      endWith(true),
    );
    return combineLatest([this.#terms$, closed$]).pipe(
      takeWhile(([, closed]) => !closed, true),
      // Reads `held` of each term, which compares the deadline with the clock. The timer that ends a term at
      // its deadline may be late.
      map(([terms, closed]) => !closed && terms.some(({ held }) => held)),
      distinctUntilChanged(),
    );
  }
}
