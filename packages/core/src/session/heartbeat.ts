import { deadlineOf, type Pace } from './budget.ts';
import type { Clock } from '../base/clock.ts';
import { QueueLockError, isQueueLockError } from '../api/errors.ts';
import { withJitter } from '../base/backoff.ts';
import { NEVER, type Observable, defer, merge, repeat, switchMap, take, tap } from '../base/rx.ts';
import type { LiveSession } from './session.ts';
import { after } from '../base/timer.ts';

/**
 * Keeps a session alive while subscribed and reports to its liveness; never ends by itself. A beat that is overdue or
 * fails makes the session suspect and is repeated soon. Beats come up to a fifth sooner than their pace, so that clients which all lost
 * the same server do not go on in step. Stopping it can only end the session, never prolong it.
 */
export function heartbeat(
  live: LiveSession,
  pace: Pace & { readonly openedAt: number },
  clock: Clock,
): Observable<boolean> {
  let proven = true;
  // The opening proved as much as a beat that was sent when it began.
  let dueInMs = Math.max(0, pace.openedAt + withJitter(pace.heartbeatIntervalMs, clock) - clock.now());
  const doubt$ = (live.session.doubts$ ?? NEVER).pipe(
    tap(() => {
      live.liveness.doubt();
    }),
  );
  const pause$ = defer(() =>
    proven
      ? merge(after(clock, dueInMs), doubt$, live.liveness.wanted$)
      : after(clock, withJitter(pace.retryAfterMs, clock)),
  ).pipe(take(1));
  return pause$.pipe(
    switchMap(() => beat(live, pace, clock)),
    tap((answer) => {
      proven = answer;
      dueInMs = withJitter(pace.heartbeatIntervalMs, clock);
    }),
    repeat(),
  );
}

/** One beat; whether it was confirmed. */
async function beat({ session, liveness }: LiveSession, pace: Pace, clock: Clock): Promise<boolean> {
  const overdue = new AbortController();
  const sentAt = clock.now();
  const cancel = clock.after(pace.answerTimeoutMs, () => {
    const late = new QueueLockError('UNAVAILABLE', 'no answer to a heartbeat');
    liveness.doubt(late);
    overdue.abort(late);
  });
  try {
    const provenMs = await session.renew(overdue.signal);
    liveness.prove(deadlineOf(sentAt, provenMs, pace.safetyMarginMs));
    return true;
  } catch (error) {
    if (isQueueLockError(error, 'SESSION_LOST')) liveness.end(error);
    else liveness.doubt(error);
    return false;
  } finally {
    cancel();
  }
}
