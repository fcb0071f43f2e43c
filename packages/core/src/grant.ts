import type { Clock } from './clock.ts';
import { QueueLockError, invalidArgument } from './errors.ts';
import {
  Observable,
  concat,
  defer,
  filter,
  ignoreElements,
  of,
  switchMap,
  take,
  throwIfEmpty,
} from './rx.ts';
import type { LiveSession } from './session.ts';
import type { EntrySpec } from './spi.ts';
import { after } from './timer.ts';
import { askUntilDefinite } from './watch-kit.ts';

/** What has to be so before a hold begins, besides its turn. */
export interface GrantTerms {
  readonly needsMs: number;
  readonly uncleanHandoverDelayMs: number;
  readonly clock: Clock;
}

/** Between turn and ownership: emits once when the hold may begin. */
export function mayBegin(live: LiveSession, spec: EntrySpec, terms: GrantTerms): Observable<unknown> {
  const proven$ = proven(live, spec, terms);
  if (terms.uncleanHandoverDelayMs === 0) return proven$;
  return concat(defer(() => handedOver(live, spec, terms)).pipe(ignoreElements()), proven$);
}

// After the one that was asked for comes the regular one, which proves the most on a store that counts from earlier beats.
const BEATS_TO_WAIT_FOR = 2;

/** A grant needs a session that is beyond doubt at that moment, and time for the work. */
function proven(
  { liveness }: LiveSession,
  { queue }: EntrySpec,
  { needsMs }: GrantTerms,
): Observable<unknown> {
  const enough = (): boolean => liveness.remainingMs > 0 && liveness.remainingMs >= needsMs;
  const better$ = new Observable<void>((subscriber) => {
    subscriber.add(liveness.proofs$.pipe(take(BEATS_TO_WAIT_FOR)).subscribe(subscriber));
    liveness.wantProof();
  });
  const enoughLater$ = better$.pipe(
    filter(enough),
    take(1),
    throwIfEmpty(() => notEnoughTime(queue, needsMs, liveness.remainingMs)),
  );
  return liveness.health$.pipe(
    filter((health) => health === 'alive'),
    take(1),
    switchMap(() => (enough() ? of(true) : enoughLater$)),
  );
}

/** Leaves a trace of this hold; waits when one is there of a hold that did not end by a release. */
function handedOver({ session }: LiveSession, spec: EntrySpec, terms: GrantTerms): Observable<unknown> {
  const { traces } = session;
  const { queue, id } = spec;
  const { uncleanHandoverDelayMs: delayMs, clock } = terms;
  if (!traces)
    throw invalidArgument('uncleanHandoverDelayMs', delayMs, 'is 0 on this backend: it keeps no traces');
  const found$ = askUntilDefinite(() => traces.leave(queue, id));
  const erased$ = (ids: readonly string[]): Observable<unknown> =>
    askUntilDefinite(() => traces.erase(queue, ids));
  return found$.pipe(
    switchMap((ids) => (ids.length === 0 ? of(true) : concat(after(clock, delayMs), erased$(ids)))),
  );
}

/** Says how much time there is, and what gives more. */
export function notEnoughTime(name: string, needsMs: number, leftMs: number): QueueLockError {
  return new QueueLockError(
    'NOT_ENOUGH_TIME',
    `${JSON.stringify(name)}: ${String(Math.floor(leftMs))} ms of the hold are proven and ${String(needsMs)} are needed (needsMs); ask for less or raise ttlMs`,
  );
}
