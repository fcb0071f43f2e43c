import { QueueLockError, isQueueLockError } from '../api/errors.ts';
import type { Session } from '../api/spi.ts';
import type { Clock } from '../base/clock.ts';
import { deadlineOf, type Pace } from './budget.ts';

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

/**
 * Sends one heartbeat, and reports to the listener what becomes of it. Resolves with whether the store confirmed it. The proven time counts from the
 * moment before the request was sent, because the store may have begun to count the TTL at that moment.
 */
export async function sendHeartbeat(
  session: Pick<Session, 'renew'>,
  listener: HeartbeatListener,
  { pace, clock }: { readonly pace: Pace; readonly clock: Clock },
): Promise<boolean> {
  const overdue = new AbortController();
  const sentAt = clock.now();
  const cancel = clock.after(pace.responseTimeoutMs, () => {
    const late = new QueueLockError('UNAVAILABLE', 'no response to a heartbeat');
    listener.overdue?.(late);
    overdue.abort(late);
  });
  try {
    const provenMs = await session.renew(overdue.signal);
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
