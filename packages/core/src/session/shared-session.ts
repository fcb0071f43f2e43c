import type { SessionState } from '../api/api.ts';
import { QueueLockError, detailOf, isQueueLockError } from '../api/errors.ts';
import {
  BehaviorSubject,
  type Observable,
  ReplaySubject,
  defer,
  merge,
  share,
  take,
  tap,
  type MonoTypeOperatorFunction,
} from '../base/rx.ts';
import { heartbeatThreads } from './heartbeat-threads.ts';
import { openOrResume, removeUnclaimedLater } from './resume.ts';
import { openSession, type SessionSettings } from './session.ts';
import type { LiveSession } from './live-session.ts';
import type { Backend, Session } from '../api/spi.ts';

/** The session shared by all claims of a client, with its state. */
export interface SharedSession {
  /**
   * Emits the session once. The first subscriber opens it; after a loss, the next subscriber opens another one. Errors with `CLOSED` once the client
   * is closed.
   */
  readonly session$: Observable<LiveSession>;
  /** Returns the session while it is open, so that a claim does not have to subscribe to `session$`. */
  readonly present: () => LiveSession | undefined;
  readonly state$: BehaviorSubject<SessionState>;
  /** Emits failures of the heartbeat thread. The session continues without the thread. Never errors. */
  readonly errors$: Observable<QueueLockError>;
  /** Returns the error because of which the session is not open yet, or is suspect. */
  readonly openingTrouble: () => unknown;
}

/** The stream and the callbacks that concern the end of the shared session. */
export interface SharedSessionEnd {
  /** Stream that errors with `CLOSED` when the client is closed. */
  readonly closed$: Observable<never>;
  readonly afterwards: (work: Promise<void>) => void;
  /** Returns whether to leave the session on the server, until its TTL expires or another process resumes it. */
  readonly keepsSession: () => boolean;
}

/** Opens the session on demand, and the next one after a loss. */
export function shareSession(
  backend: Backend,
  settings: SessionSettings,
  { closed$, afterwards, keepsSession }: SharedSessionEnd,
): SharedSession {
  let resumed: Session | undefined;
  const open = openOrResume(backend, settings.resume, (session) => (resumed = session));
  const { endpoint } = backend.info;
  const { standby, errors$ } = heartbeatThreads(backend, settings);
  let failure: unknown;
  let present: LiveSession | undefined;
  const state$ = new BehaviorSubject<SessionState>({ status: 'idle' });
  /** Publishes a state of the session, unless the client is closed: `closed` is final. */
  const tell = (state: SessionState): void => {
    const { status } = state$.value;
    if (status !== 'closed' && status !== state.status) state$.next(state);
  };
  const tellEnd = (error: unknown): void => {
    present = undefined;
    tell({ status: isQueueLockError(error, 'CLOSED') ? 'closed' : 'lost' });
  };
  const follow = (live: LiveSession): void => {
    const { session, liveness } = (present = live);
    if (session === resumed) removeUnclaimedLater(live, settings.clock);
    liveness.health$.subscribe({
      next: (status) => {
        tell({ status, id: session.id, ttlMs: session.ttlMs });
      },
      // Ignores the error of the ended session here. The stream `session$` errors with it too, and its subscribers handle it.
      error: () => undefined,
    });
  };
  closed$.subscribe({ error: tellEnd });
  const session$ = defer(() => {
    failure = undefined;
    tell({ status: 'opening' });
    const problem = (why: unknown): void => void (failure = why);
    const opening = { ...settings, open, endpoint, standby, problem };
    return merge(closed$, openSession(opening, { closing: afterwards, keepsSession }));
  }).pipe(tap({ next: follow, error: tellEnd }), shared());
  const openingTrouble = (): unknown =>
    state$.value.status === 'opening' ? notOpenYet(endpoint, failure) : present?.liveness.problem;
  return { session$, present: () => present, state$, errors$, openingTrouble };
}

/** Shares one subscription to the source among all subscribers, until the source errors. Later subscribers receive the current value. */
function shared<T>(): MonoTypeOperatorFunction<T> {
  return (source$) =>
    source$.pipe(
      share({
        connector: () => new ReplaySubject(1),
        resetOnRefCountZero: false,
        resetOnComplete: true,
        resetOnError: true,
      }),
      take(1),
    );
}

function notOpenYet(endpoint: string, cause: unknown): QueueLockError {
  const detail = cause === undefined ? 'it has not responded yet' : detailOf(cause);
  return new QueueLockError('UNAVAILABLE', `no session at ${endpoint}: ${detail}`, { cause });
}
