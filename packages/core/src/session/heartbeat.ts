import type { Pace } from './budget.ts';
import type { Clock } from '../base/clock.ts';
import { backoffDelay, withJitter } from '../base/backoff.ts';
import { NEVER, type Observable, defer, merge, repeat, switchMap, take, tap } from '../base/rx.ts';
import type { LiveSession } from './live-session.ts';
import { sendHeartbeat, type HeartbeatListener } from './send-heartbeat.ts';
import { after } from '../base/timer.ts';

/**
 * Sends heartbeats while subscribed, and reports them to the session's liveness; never completes. An overdue or failed heartbeat makes the session
 * suspect and is retried soon, with backoff. Intervals are jittered by up to 20 %, so that clients which lost the same server spread out. If this
 * stream stops, the session ends earlier, never later.
 */
export function heartbeat(
  live: LiveSession,
  pace: Pace & { readonly openedAt: number },
  clock: Clock,
): Observable<boolean> {
  const listener = reportTo(live);
  let failures = 0;
  // The opening of a session proves as much time as a heartbeat sent at that moment. So the first heartbeat
  // follows one interval later.
  let dueInMs = Math.max(0, pace.openedAt + withJitter(pace.heartbeatIntervalMs, clock) - clock.now());
  const retries = { initialDelayMs: pace.retryAfterMs, maxDelayMs: pace.longestRetryMs };
  const doubt$ = (live.session.doubts$ ?? NEVER).pipe(
    tap(() => {
      live.liveness.doubt();
    }),
  );
  const pause$ = defer(() =>
    failures === 0
      ? merge(after(clock, dueInMs), doubt$, live.liveness.wanted$)
      : after(clock, backoffDelay(failures - 1, retries, clock)),
  ).pipe(take(1));
  return pause$.pipe(
    switchMap(() => sendHeartbeat(live.session, listener, { pace, clock })),
    tap((isProven) => {
      failures = isProven ? 0 : failures + 1;
      dueInMs = withJitter(pace.heartbeatIntervalMs, clock);
    }),
    repeat(),
  );
}

/** Returns a listener that reports heartbeats to the liveness of their session. */
function reportTo({ liveness }: LiveSession): HeartbeatListener {
  const doubt = (error: unknown): void => {
    liveness.doubt(error);
  };
  return {
    proven: (deadline) => {
      liveness.prove(deadline);
    },
    overdue: doubt,
    failed: doubt,
    lost: (error) => {
      liveness.end(error);
    },
  };
}
