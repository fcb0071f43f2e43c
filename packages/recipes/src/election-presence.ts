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

/** Returns a stream that has one candidate while it has subscribers. It creates another candidate after every end that a retry may help. */
export function presenceOf(ballot: Ballot): Observable<Presence> {
  const present$ = defer(() => {
    const troubles = ballot.troubles.ofCandidate();
    return defer(() => once(ballot, troubles)).pipe(repeat());
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
    // A late subscriber gets the last state, and the timer that should have ended it may be late. So `held` is compared with the clock.
    map((leadership) => (leadership?.held ? leadership : undefined)),
    distinctUntilChanged(),
  );
}

/** One candidacy: from joining to the end of the hold, or to the end of the failed wait and its backoff. */
function once(ballot: Ballot, troubles: CandidateErrors): Observable<Presence> {
  const stand = ballot.stand();
  let winning: Promise<Term> | undefined;
  let term: Term | undefined;
  const won = (made: Term): Term => {
    troubles.over();
    return (term = made);
  };
  return ballot.client.claim(ballot.name, stand).pipe(
    switchMap((state: ClaimState): Observable<Presence> => {
      if (state.status === 'held' || state.status === 'suspect')
        return presenceIn((winning ??= ballot.elected(state.ownership, stand).then(won)));
      if (state.status !== 'ended' || state.outcome !== 'failed') return of(undefined);
      if (!mayPass(state.error)) throw state.error;
      return concat(of(undefined), troubles.pause(state.error));
    }),
    finalize(() => term?.end()),
  );
}

function presenceIn(term: Promise<Term>): Observable<Presence> {
  return from(term).pipe(
    switchMap(({ present$ }) => present$),
    // The claim reports a loss, so an expected error is not repeated here.
    catchError((error: unknown) => endQuietlyIf(mayPass(error), error)),
  );
}

/** Completes if the error is expected, otherwise throws it. */
function endQuietlyIf(isExpected: boolean, error: unknown): Observable<never> {
  if (isExpected) return EMPTY;
  throw error;
}
