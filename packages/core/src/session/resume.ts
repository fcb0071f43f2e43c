import { invalidArgument, isQueueLockError } from '../api/errors.ts';
import { firstValueFrom, type Observable } from '../base/rx.ts';
import type { LiveSession } from './session.ts';
import type { Backend, Session } from '../api/spi.ts';

/** Opens a session; the first time goes on with an earlier one, unless that has ended. */
export function openOrResume(backend: Backend, resumption: string | undefined): Backend['open'] {
  let left = resumption;
  return async (ttlMs, signal): Promise<Session> => {
    if (left === undefined) return backend.open(ttlMs, signal);
    if (!backend.resume)
      throw invalidArgument('resume', 'a session', `is not offered by the backend ${backend.info.name}`);
    try {
      const session = await backend.resume(left, signal);
      left = undefined;
      return session;
    } catch (error) {
      if (!isQueueLockError(error, 'SESSION_LOST')) throw error;
      left = undefined;
      return backend.open(ttlMs, signal);
    }
  };
}

/** What another process needs to go on with the session, which is opened if need be. */
export async function resumptionOf(live$: Observable<LiveSession>, backend: Backend): Promise<string> {
  const live = await firstValueFrom(live$, { defaultValue: undefined });
  if (live?.session.resumption !== undefined) return live.session.resumption;
  throw invalidArgument('backend', backend.info.name, 'has sessions that can be resumed; this one has not');
}
