import type { Clock } from '../base/clock.ts';
import { QueueLockError, invalidArgument } from '../api/errors.ts';
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
} from '../base/rx.ts';
import type { LiveSession } from '../session/live-session.ts';
import type { EntrySpec } from '../api/spi.ts';
import { after } from '../base/timer.ts';
import { askUntilDefinite } from '../turn/watch-kit.ts';

/** The entry whose hold is about to begin, and the conditions of the hold. */
interface Beginning {
  readonly live: LiveSession;
  readonly spec: EntrySpec;
  readonly minRemainingMs: number;
  readonly lockDelayMs: number;
  readonly clock: Clock;
}

/** Returns whether the hold of an admitted entry may begin at once, which is the usual case. */
export function mayBeginNow(beginning: Beginning, now: number): boolean {
  const leavesTraces = beginning.lockDelayMs > 0;
  return !leavesTraces && beginning.live.liveness.isAlive && hasEnoughTime(beginning, now);
}

/** Emits once, when the hold may begin: enough time is proven, and after an unclean end of the previous hold the lock delay has passed. */
export function whenItMayBegin(beginning: Beginning): Observable<unknown> {
  const proven$ = proven(beginning);
  if (beginning.lockDelayMs === 0) return proven$;
  return concat(defer(() => handedOver(beginning)).pipe(ignoreElements()), proven$);
}

// Number of heartbeats to wait for: one that is sent at once, and the next regular one. On a store where a heartbeat only proves that an earlier one
// arrived, the second one proves more time.
const BEATS_TO_WAIT_FOR = 2;

/** Waits until the session is not suspect and the time that the claim requires (`minRemainingMs`) is proven. Emits once. */
function proven(beginning: Beginning): Observable<unknown> {
  const { live, spec, minRemainingMs } = beginning;
  const { liveness } = live;
  const better$ = new Observable<void>((subscriber) => {
    subscriber.add(liveness.proofs$.pipe(take(BEATS_TO_WAIT_FOR)).subscribe(subscriber));
    liveness.wantProof();
  });
  const enoughLater$ = better$.pipe(
    filter(() => hasEnoughTime(beginning)),
    take(1),
    throwIfEmpty(() => notEnoughTime(spec.queue, minRemainingMs, liveness.remainingMs)),
  );
  return liveness.health$.pipe(
    filter((health) => health === 'alive'),
    take(1),
    switchMap(() => (hasEnoughTime(beginning) ? of(true) : enoughLater$)),
  );
}

function hasEnoughTime({ live, minRemainingMs, clock }: Beginning, now = clock.now()): boolean {
  const remainingMs = live.liveness.remainingMsAt(now);
  return remainingMs > 0 && remainingMs >= minRemainingMs;
}

/** Writes the trace of this hold. Waits for the lock delay if a trace remains of a hold that did not end by a release. */
function handedOver({ live, spec, lockDelayMs: delayMs, clock }: Beginning): Observable<unknown> {
  const { traces } = live.session;
  const { queue, id } = spec;
  if (!traces) throw invalidArgument('lockDelayMs', delayMs, 'is 0 on this backend: it keeps no traces');
  const found$ = askUntilDefinite(() => traces.leave(queue, id));
  const erased$ = (ids: readonly string[]): Observable<unknown> =>
    askUntilDefinite(() => traces.erase(queue, ids));
  return found$.pipe(
    switchMap((ids) => (ids.length === 0 ? of(true) : concat(after(clock, delayMs), erased$(ids)))),
  );
}

/** Creates the error that reports for how long the hold is proven, and how to get more time. */
export function notEnoughTime(name: string, minRemainingMs: number, leftMs: number): QueueLockError {
  return new QueueLockError(
    'NOT_ENOUGH_TIME',
    `${JSON.stringify(name)}: ${String(Math.floor(leftMs))} ms of the hold are proven, and minRemainingMs is ${String(minRemainingMs)}; lower minRemainingMs or raise ttlMs`,
  );
}
