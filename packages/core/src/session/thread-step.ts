import type { KnownTimes } from './thread-times.ts';

/** Timing of the heartbeat thread, in milliseconds. */
export interface ThreadPace {
  /** Interval between heartbeats of the main thread. */
  readonly heartbeatIntervalMs: number;
  /** How long the main thread may go without a check-in. */
  readonly maxSilenceMs: number;
  /** Longest time between two heartbeats of the thread itself, which show that its connection works. */
  readonly rehearsalMs: number;
}

/** The next step of the heartbeat thread. */
export type ThreadStep =
  | { readonly type: 'end' }
  | { readonly type: 'renew' }
  | { readonly type: 'wait'; readonly ms: number };

// The main thread's intervals are jittered downwards only. A heartbeat that is a quarter late shows that it does not run.
const LATE = 1.25;
// The main thread may become blocked at any moment, so the heartbeat thread checks at least this often.
const MIN_WAIT_MS = 5;

/**
 * Decides what the heartbeat thread does: it sends a heartbeat where one of the main thread is overdue, and now and then one that shows that its own
 * connection works. It sends none once the main thread has been silent for too long, so that a stuck process loses its locks.
 * @param renewedAt when the thread last sent a heartbeat that was confirmed; `-Infinity` before the first
 */
export function nextThreadStep(
  known: KnownTimes & { readonly renewedAt: number },
  now: number,
  pace: ThreadPace,
): ThreadStep {
  const { deadline, provenAt, checkedInAt, isOver, renewedAt } = known;
  if (isOver || now >= deadline) return { type: 'end' };
  const silentAt = checkedInAt + pace.maxSilenceMs;
  // The main thread may check in again before the deadline.
  if (now >= silentAt) return { type: 'wait', ms: pace.heartbeatIntervalMs };
  const lateAt = Math.max(provenAt, renewedAt) + LATE * pace.heartbeatIntervalMs;
  const dueAt = Math.min(lateAt, renewedAt + pace.rehearsalMs);
  return now >= dueAt ? { type: 'renew' } : { type: 'wait', ms: Math.max(MIN_WAIT_MS, dueAt - now) };
}
