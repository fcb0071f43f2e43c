import { QueueLockError, isQueueLockError } from '../api/errors.ts';
import type { Session } from '../api/spi.ts';
import type { Clock } from '../base/clock.ts';
import { deadlineOf, provenUntil, type Pace } from './budget.ts';

/** Callbacks for the outcome of a heartbeat. */
export interface HeartbeatListener {
  /** Called when the store has confirmed the heartbeat. The session is proven until `deadline`, by the clock of the caller. */
  proven(deadline: number): void;
  /** Called when the response is overdue. The request is cancelled now, so a call of `failed` follows. */
  overdue?(error: QueueLockError): void;
  /** Called when the store has not confirmed the heartbeat. The session may still exist. */
  failed(error: unknown): void;
  /** Called when the session has ended in the store. */
  lost(error: QueueLockError): void;
}

/** The timing of a heartbeat. */
export interface HeartbeatTiming {
  readonly pace: Pace;
  readonly clock: Clock;
  /** Deadline until which earlier heartbeats prove the session, by `clock`. */
  readonly deadline: number;
}

/**
 * Sends one heartbeat, and reports its outcome to the listener. Resolves with whether the store confirmed it. The proven time starts before the
 * request was sent, because the store may have begun to count the TTL then.
 */
export async function sendHeartbeat(
  session: Pick<Session, 'renew'>,
  listener: HeartbeatListener,
  { pace, clock, deadline }: HeartbeatTiming,
): Promise<boolean> {
  const overdue = new AbortController();
  const sentAt = clock.now();
  const cancel = clock.after(pace.responseTimeoutMs, () => {
    const late = new QueueLockError('UNAVAILABLE', 'no response to a heartbeat');
    listener.overdue?.(late);
    overdue.abort(late);
  });
  try {
    const earlierMs = provenUntil(deadline, sentAt, pace.safetyMarginMs);
    const provenMs = await session.renew(overdue.signal, earlierMs);
    listener.proven(deadlineOf(sentAt, provenMs, pace.safetyMarginMs));
    return true;
  } catch (error) {
    if (isQueueLockError(error, 'SESSION_LOST')) listener.lost(error);
    else listener.failed(error);
    return false;
  } finally {
    cancel();
  }
}
