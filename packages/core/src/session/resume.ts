import { invalidArgument, isQueueLockError } from '../api/errors.ts';
import type { Clock } from '../base/clock.ts';
import { firstValueFrom, type Observable } from '../base/rx.ts';
import { repeatUntilDefinite } from '../kit/definite.ts';
import type { LiveSession } from './live-session.ts';
import type { Backend, Session } from '../api/spi.ts';

/** Returns a function that opens sessions. Its first call resumes an earlier session, unless that has ended, and passes it to `onResumed`. */
export function openOrResume(
  backend: Backend,
  resumption: string | undefined,
  onResumed: (session: Session) => void,
): Backend['open'] {
  let left = resumption;
  return async (ttlMs, signal) => {
    if (left === undefined) return backend.open(ttlMs, signal);
    if (!backend.resume)
      throw invalidArgument('resume', 'a session', `is not offered by the backend ${backend.info.name}`);
    try {
      const session = await backend.resume(left, signal);
      left = undefined;
      onResumed(session);
      return session;
    } catch (error) {
      if (!isQueueLockError(error, 'SESSION_LOST')) throw error;
      left = undefined;
      return backend.open(ttlMs, signal);
    }
  };
}

/**
 * Removes the unclaimed entries of a resumed session, one TTL from now. The earlier process may have released such an entry in a request that was
 * lost. This process's heartbeats would keep the entry at the head of its queue. Retries until the entries are removed or the session has ended. If
 * the store refuses the removal, ends the session, because that is the only other way to free the queue.
 */
export function removeUnclaimedLater({ session, liveness }: LiveSession, clock: Clock): void {
  const cancel = clock.after(session.ttlMs, () => {
    repeatUntilDefinite(async () => session.removeUnclaimed?.(), liveness.ending).catch((error: unknown) => {
      const why =
        'the store refused to remove entries that nothing has claimed since the session was resumed';
      liveness.endByRefusal(why, error);
    });
  });
  liveness.ending.addEventListener('abort', cancel, { once: true });
}

/** Returns the data with which another process can resume the session. Opens the session if necessary. */
export async function resumptionOf(live$: Observable<LiveSession>, backend: Backend): Promise<string> {
  const live = await firstValueFrom(live$, { defaultValue: undefined });
  if (live?.session.resumption !== undefined) return live.session.resumption;
  throw invalidArgument('backend', backend.info.name, 'supports resumed sessions; this one does not');
}
