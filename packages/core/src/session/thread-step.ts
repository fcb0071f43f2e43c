import type { KnownTimes } from './thread-times.ts';

/** Timing of the heartbeat thread, in milliseconds. */
export interface ThreadPace {
  /** Interval between heartbeats of the main thread. */
  readonly heartbeatIntervalMs: number;
  /** Longest time between two check-ins of a main thread that is not blocked. A check-in records that the event loop of the main thread runs. */
  readonly checkInMs: number;
  /** The option `maxBlockedMs`: when the event loop of the main thread has not run for this long, the heartbeat thread stops. */
  readonly maxSilenceMs: number;
  /** Longest time between two heartbeats of the heartbeat thread. It sends them even while the main thread runs, to keep its connection tested. */
  readonly rehearsalMs: number;
}

/** The next action of the heartbeat thread: it ends, sends a heartbeat, or waits. */
export type ThreadStep =
  | { readonly type: 'end' }
  | { readonly type: 'renew' }
  | { readonly type: 'wait'; readonly ms: number };

// Jitter only shortens the intervals of the main thread. So a heartbeat that is late by a quarter of the
// interval shows that the main thread does not run.
const LATE = 1.25;
// Minimum time in milliseconds before the next check of the heartbeat thread.
const MIN_WAIT_MS = 5;

/** Returns whether the main thread is known to be blocked. It is when its event loop has missed two check-ins, with which it records that it runs. */
export function isMainSilent(
  { checkedInAt }: Pick<KnownTimes, 'checkedInAt'>,
  now: number,
  { checkInMs }: Pick<ThreadPace, 'checkInMs'>,
): boolean {
  return now - checkedInAt > 2 * checkInMs;
}

/**
 * Decides what the heartbeat thread does next. It sends a heartbeat when one of the main thread is overdue. Now and then it also sends one to show
 * that its own connection works. It sends none when the main thread has not checked in for longer than `maxBlockedMs`, so that a process whose event
 * loop hangs loses its locks.
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
  // Waits without sending a heartbeat. The event loop of the main thread may still run again before the session's deadline.
  if (now >= silentAt) return { type: 'wait', ms: pace.heartbeatIntervalMs };
  const lateAt = Math.max(provenAt, renewedAt) + LATE * pace.heartbeatIntervalMs;
  const dueAt = Math.min(lateAt, renewedAt + pace.rehearsalMs);
  return now >= dueAt ? { type: 'renew' } : { type: 'wait', ms: Math.max(MIN_WAIT_MS, dueAt - now) };
}
