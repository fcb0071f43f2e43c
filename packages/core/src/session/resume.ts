import { QueueLockError, detailOf, invalidArgument, isQueueLockError } from '../api/errors.ts';
import type { Clock } from '../base/clock.ts';
import { firstValueFrom, type Observable } from '../base/rx.ts';
import { repeatUntilDefinite } from '../kit/definite.ts';
import type { LiveSession } from './session.ts';
import type { Backend, Session } from '../api/spi.ts';

/** Opens sessions. The first call resumes an earlier session, unless that has ended. */
export class SessionOpener {
  readonly #backend: Backend;
  #resumption: string | undefined;
  #resumed: Session | undefined;

  constructor(backend: Backend, resumption: string | undefined) {
    this.#backend = backend;
    this.#resumption = resumption;
  }

  readonly open: Backend['open'] = async (ttlMs, signal) => {
    const resumption = this.#resumption;
    if (resumption === undefined) return this.#backend.open(ttlMs, signal);
    if (!this.#backend.resume)
      throw invalidArgument(
        'resume',
        'a session',
        `is not offered by the backend ${this.#backend.info.name}`,
      );
    try {
      this.#resumed = await this.#backend.resume(resumption, signal);
      this.#resumption = undefined;
      return this.#resumed;
    } catch (error) {
      if (!isQueueLockError(error, 'SESSION_LOST')) throw error;
      this.#resumption = undefined;
      return this.#backend.open(ttlMs, signal);
    }
  };

  /** Whether the session was resumed rather than opened. */
  hasResumed(session: Session): boolean {
    return session === this.#resumed;
  }
}

/**
 * Removes the unclaimed entries of a resumed session, one TTL from now. A release by the earlier process may have been lost, and this process's
 * heartbeats would keep that entry at the head of its queue. Retries until done or the session has ended. If the store refuses, it ends the
 * session, the only other way to free the queue.
 */
export function removeUnclaimedLater({ session, liveness }: LiveSession, clock: Clock): void {
  const cancel = clock.after(session.ttlMs, () => {
    repeatUntilDefinite(async () => session.removeUnclaimed?.(), liveness.ending).catch((error: unknown) => {
      const why = `the store refused to remove entries that nothing has claimed since the session was resumed: ${detailOf(error)}`;
      liveness.end(
        isQueueLockError(error, 'SESSION_LOST')
          ? error
          : new QueueLockError('SESSION_LOST', why, { cause: error, reason: 'session-lost' }),
      );
    });
  });
  liveness.ending.addEventListener('abort', cancel, { once: true });
}

/** Returns what another process needs to resume the session. Opens the session if necessary. */
export async function resumptionOf(live$: Observable<LiveSession>, backend: Backend): Promise<string> {
  const live = await firstValueFrom(live$, { defaultValue: undefined });
  if (live?.session.resumption !== undefined) return live.session.resumption;
  throw invalidArgument('backend', backend.info.name, 'has sessions that can be resumed; this one has not');
}
