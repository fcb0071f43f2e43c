import { isQueueLockError, type ClaimState } from '@queuelock/core';
import type { Leadership } from './election-api.ts';
import type { Ballot } from './election-ballot.ts';
import { mayPass, type Term } from './election-term.ts';
import type { CandidateErrors } from './election-errors.ts';
import {
  EMPTY,
  ReplaySubject,
  catchError,
  concat,
  defer,
  distinctUntilChanged,
  finalize,
  from,
  map,
  of,
  repeat,
  share,
  switchMap,
  type Observable,
} from './rx.ts';

type Presence = Leadership | undefined;

/**
 * Returns a stream that keeps one candidate in the queue while it has subscribers. After each end of a
 * candidacy it creates another candidate, unless the error shows that a retry cannot help.
 */
export function presenceOf(ballot: Ballot): Observable<Presence> {
  const present$ = defer(() => {
    const failures = ballot.troubles.ofCandidate();
    return defer(() => once(ballot, failures)).pipe(repeat());
  }).pipe(
    catchError((error: unknown) => endQuietlyIf(isQueueLockError(error, 'CLOSED'), error)),
    share({
      connector: () => new ReplaySubject(1),
      resetOnRefCountZero: true,
      resetOnError: true,
      resetOnComplete: true,
    }),
  );
  return present$.pipe(
    // A late subscriber gets the last emitted leadership. Reads its `held`, which compares with the clock: the
    // timer that ends a leadership at its deadline may be late.
    map((leadership) => (leadership?.held ? leadership : undefined)),
    distinctUntilChanged(),
  );
}

/**
 * Emits the leadership of one candidacy. The candidacy begins when the candidate joins the queue. It ends
 * with the hold, or with the backoff after a failed wait.
 */
function once(ballot: Ballot, failures: CandidateErrors): Observable<Presence> {
  const stand = ballot.stand();
  let winning: Promise<Term> | undefined;
  let term: Term | undefined;
  const won = (made: Term): Term => {
    failures.over();
    return (term = made);
  };
  return ballot.client.claim(ballot.name, stand).pipe(
    switchMap((state: ClaimState): Observable<Presence> => {
      if (state.status === 'held' || state.status === 'suspect')
        return presenceIn((winning ??= ballot.elected(state.ownership, stand).then(won)));
      if (state.status !== 'ended' || state.outcome !== 'failed') return of(undefined);
      if (!mayPass(state.error)) throw state.error;
      return concat(of(undefined), failures.pause(state.error));
    }),
    finalize(() => term?.end()),
  );
}

function presenceIn(term: Promise<Term>): Observable<Presence> {
  return from(term).pipe(
    switchMap(({ present$ }) => present$),
    // Does not emit an error after which another candidacy may succeed. The stream of the claim emits the end
    // of the hold too, and then the next candidacy begins.
    catchError((error: unknown) => endQuietlyIf(mayPass(error), error)),
  );
}

/**
 * If `isExpected` is true, hides the error: returns a stream that completes without a value. Otherwise throws
 * `error`.
 */
function endQuietlyIf(isExpected: boolean, error: unknown): Observable<never> {
  if (isExpected) return EMPTY;
  throw error;
}
