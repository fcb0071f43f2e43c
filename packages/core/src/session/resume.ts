import { QueueLockError, detailOf, invalidArgument, isQueueLockError } from '../api/errors.ts';
import type { Clock } from '../base/clock.ts';
import { firstValueFrom, type Observable } from '../base/rx.ts';
import { repeatUntilDefinite } from '../kit/definite.ts';
import type { LiveSession } from './session.ts';
import type { Backend, Session } from '../api/spi.ts';

/** Opens sessions; the first time it resumes an earlier one, unless that has ended. */
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

  /** Whether the session was resumed and not opened. */
  hasResumed(session: Session): boolean {
    return session === this.#resumed;
  }
}

/**
 * Removes what the process before has left in a resumed session, one TTL after now: a release of it may not have arrived before it died, and
 * the heartbeats of this process would keep that entry at the head of its queue. Repeats until it is done or the session has ended; a refusal
 * by the store ends the session, the only other way to free the queue.
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

/** What another process needs to resume the session, which is opened if need be. */
export async function resumptionOf(live$: Observable<LiveSession>, backend: Backend): Promise<string> {
  const live = await firstValueFrom(live$, { defaultValue: undefined });
  if (live?.session.resumption !== undefined) return live.session.resumption;
  throw invalidArgument('backend', backend.info.name, 'has sessions that can be resumed; this one has not');
}
