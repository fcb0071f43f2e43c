import type { Renewer } from '../api/renewer-api.ts';
import { QueueLockError, isQueueLockError } from '../api/errors.ts';
import { backoffDelay } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { deadlineOf, type Pace } from './budget.ts';
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
  const retries = { initialDelayMs: pace.retryAfterMs, maxDelayMs: pace.longestRetryMs };
  let renewedAt = -Infinity;
  let failures = 0;
  for (;;) {
    const sentAt = clock.now();
    const step = nextThreadStep({ ...times.known, renewedAt }, sentAt, pace);
    if (step.type === 'end') return;
    if (step.type === 'wait') await pause(clock, step.ms);
    else if (await renew(tools, sentAt)) {
      renewedAt = sentAt;
      failures = 0;
    } else {
      await pause(clock, backoffDelay(failures, retries, clock));
      failures += 1;
    }
  }
}

/** Sends one heartbeat. Resolves with whether it was confirmed. */
async function renew(
  { times, renewer, clock, pace, onFailure }: ThreadLoopTools,
  sentAt: number,
): Promise<boolean> {
  const overdue = new AbortController();
  const cancel = clock.after(pace.answerTimeoutMs, () => {
    overdue.abort(new QueueLockError('UNAVAILABLE', 'no response to a heartbeat'));
  });
  try {
    const provenMs = await renewer.renew(overdue.signal);
    times.prove(deadlineOf(sentAt, provenMs, pace.safetyMarginMs) - THREAD_CLOCK_GRAIN_MS, clock.now());
    return true;
  } catch (error) {
    if (isQueueLockError(error, 'SESSION_LOST')) times.lose();
    else onFailure(error);
    return false;
  } finally {
    cancel();
  }
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve);
  });
}
