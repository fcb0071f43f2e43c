import { isQueueLockError, type ClaimState, type LockClient } from '@queuelock/core';
import type { Leadership } from './election-api.ts';
import { elected, mayPass, type Stand, type Term } from './election-term.ts';
import {
  EMPTY,
  ReplaySubject,
  catchError,
  defer,
  distinctUntilChanged,
  from,
  map,
  of,
  repeat,
  share,
  switchMap,
  type Observable,
} from './rx.ts';

type Presence = Leadership | undefined;

/** One candidate for as long as anybody subscribes; it stands again after every end that is not for good. */
export function presenceOf(client: LockClient, name: string, stand: () => Stand): Observable<Presence> {
  const present$ = defer(() => once(client, name, stand())).pipe(
    repeat(),
    catchError((error: unknown) => endQuietlyIf(isQueueLockError(error, 'CLOSED'), error)),
    share({
      connector: () => new ReplaySubject(1),
      resetOnRefCountZero: true,
      resetOnError: true,
      resetOnComplete: true,
    }),
  );
  return present$.pipe(
    // Whoever comes late is shown the last state, and a timer that should have ended it may be late too.
    map((leadership) => (leadership?.held ? leadership : undefined)),
    distinctUntilChanged(),
  );
}

/** From joining to the end of the hold or of the wait. */
function once(client: LockClient, name: string, stand: Stand): Observable<Presence> {
  let term: Promise<Term> | undefined;
  return client.claim(name, stand).pipe(
    switchMap((state: ClaimState): Observable<Presence> => {
      if (state.status === 'held' || state.status === 'doubtful') {
        return presenceIn((term ??= elected(state.ownership, stand)));
      }
      const failed = state.status === 'ended' && state.outcome === 'failed';
      if (failed && !mayPass(state.error)) throw state.error;
      return of(undefined);
    }),
  );
}

function presenceIn(term: Promise<Term>): Observable<Presence> {
  return from(term).pipe(
    switchMap(({ present$ }) => present$),
    // Of a loss the claim tells.
    catchError((error: unknown) => endQuietlyIf(mayPass(error), error)),
  );
}

/** Ends quietly if the error is expected. */
function endQuietlyIf(isExpected: boolean, error: unknown): Observable<never> {
  if (isExpected) return EMPTY;
  throw error;
}
