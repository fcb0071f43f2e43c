import { detailOf, type QueueLockError } from '../api/errors.ts';
import type { Backend } from '../api/spi.ts';
import { Subject, type Observable } from '../base/rx.ts';
import type { SessionOpening, SessionSettings } from './session.ts';
import { threadFailure } from './thread-failure.ts';

/** The heartbeat threads of a client, one for each of its sessions. */
export interface HeartbeatThreads {
  /** Loads the function that starts a heartbeat thread. `undefined` for a client without the option `maxBlockedMs`. */
  readonly standby: SessionOpening['standby'];
  /**
   * Emits failures of heartbeat threads. The session of a failed thread continues without it. Never errors.
   */
  readonly errors$: Observable<QueueLockError>;
}

/** Prepares the heartbeat threads of a client. The code that starts them is loaded only for a client that has the option. */
export function heartbeatThreads(
  { renewers }: Backend,
  { clock, maxBlockedMs = 0 }: SessionSettings,
): HeartbeatThreads {
  const errors$ = new Subject<QueueLockError>();
  const onFailure = (error: QueueLockError): void => {
    errors$.next(error);
  };
  if (maxBlockedMs === 0 || !renewers) return { standby: undefined, errors$ };
  const standby: SessionOpening['standby'] = async () => {
    try {
      const { standbyStarter } = await import('./standby.ts');
      return standbyStarter({ renewers, clock, maxBlockedMs, onFailure });
    } catch (error) {
      onFailure(threadFailure(detailOf(error)));
      return undefined;
    }
  };
  return { standby, errors$ };
}
