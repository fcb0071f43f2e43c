import type { Renewer } from '../api/renewer-api.ts';
import { backoffDelay } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import type { Pace } from './budget.ts';
import { sendHeartbeat, type HeartbeatListener } from './send-heartbeat.ts';
import { nextThreadStep, type ThreadPace } from './thread-step.ts';
import { THREAD_CLOCK_GRAIN_MS, type ThreadTimes } from './thread-times.ts';

/** The objects that the heartbeats of a thread need. */
export interface ThreadLoopTools {
  readonly times: ThreadTimes;
  readonly renewer: Pick<Renewer, 'renew'>;
  /** The clock of the main thread. */
  readonly clock: Clock;
  readonly pace: Pace & ThreadPace;
  /** Called with the error of each heartbeat that was not confirmed. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Sends heartbeats in place of the main thread while that is blocked. Resolves when the session has ended, or when the main thread needs no more
 * heartbeats.
 */
export async function renewInPlaceOfMain(tools: ThreadLoopTools): Promise<void> {
  const { times, clock, pace } = tools;
  const listener = storeIn(tools);
  const retries = { initialDelayMs: pace.retryAfterMs, maxDelayMs: pace.longestRetryMs };
  let renewedAt = -Infinity;
  let failures = 0;
  for (;;) {
    const sentAt = clock.now();
    const { known } = times;
    const step = nextThreadStep({ ...known, renewedAt }, sentAt, pace);
    if (step.type === 'end') return;
    if (step.type === 'wait') await pause(clock, step.ms);
    else if (await sendHeartbeat(tools.renewer, listener, { pace, clock, deadline: known.deadline })) {
      renewedAt = sentAt;
      failures = 0;
    } else {
      await pause(clock, backoffDelay(failures, retries, clock));
      failures += 1;
    }
  }
}

/** Returns a listener that stores the times of heartbeats in the memory that both threads share. */
function storeIn({ times, clock, onFailure }: ThreadLoopTools): HeartbeatListener {
  return {
    proven: (deadline) => {
      times.prove(deadline - THREAD_CLOCK_GRAIN_MS, clock.now());
    },
    failed: onFailure,
    lost: () => {
      times.lose();
    },
  };
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve);
  });
}
