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

/** The terms that the candidates of one `election` have at this moment. */
export class Office {
  readonly #terms$ = new BehaviorSubject<readonly Term[]>([]);

  enter(term: Term): void {
    this.#terms$.next([...this.#terms$.value, term]);
    term.present$.subscribe({
      next: (present) => {
        if (!present) this.#terms$.next(this.#terms$.value.filter((other) => other !== term));
      },
      // There are none.
      error: () => undefined,
    });
  }

  /** Whether there is one, now and at every change; completes when the client is closed. */
  isFilled({ session$ }: Pick<LockClient, 'session$'>): Observable<boolean> {
    const closed$ = session$.pipe(
      map(({ status }) => status === 'closed'),
      endWith(true),
    );
    return combineLatest([this.#terms$, closed$]).pipe(
      takeWhile(([, closed]) => !closed, true),
      // A timer that should have ended a term may be late.
      map(([terms, closed]) => !closed && terms.some(({ held }) => held)),
      distinctUntilChanged(),
    );
  }
}
