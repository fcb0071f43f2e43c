// Folder "session": opens a session, sends its heartbeats, and computes until when it is proven to be alive.
// session.ts (this file) opens a session. shared-session.ts shares it among all claims of a client. heartbeat.ts keeps it alive.
// liveness.ts tracks its health. budget.ts computes its timing.

import { deadlineOf, paceOf } from './budget.ts';
import type { Clock } from '../base/clock.ts';
import { repeatUntilDefinite } from '../kit/definite.ts';
import { QueueLockError, detailOf } from '../api/errors.ts';
import { heartbeat } from './heartbeat.ts';
import { Liveness } from './liveness.ts';
import type { LockClientOptions } from '../api/options.ts';
import { Observable } from '../base/rx.ts';
import type { Backend, Session } from '../api/spi.ts';
import type { LiveSession } from './live-session.ts';
import type { StandbyStarter } from './standby.ts';

/** The client's options with the defaults filled in. */
export interface SessionSettings extends LockClientOptions {
  readonly ttlMs: number;
  readonly connectTimeoutMs: number;
  readonly clock: Clock;
}

/** Parameters for opening a session. */
export interface SessionOpening extends SessionSettings {
  readonly open: Backend['open'];
  readonly endpoint: string;
  /** Called with the error of each failed attempt to open the session. */
  readonly problem: (why: unknown) => void;
  /** Loads the function that starts heartbeat threads. Never rejects. Default: no threads. */
  readonly standby?: (() => Promise<StandbyStarter | undefined>) | undefined;
}

/** Callbacks that concern the end of a session. */
export interface SessionEnd {
  /** Called with background work: the promise of an attempt to open a session, or of its closing on the server. */
  readonly closing: (closed: Promise<void>) => void;
  /** Returns whether to leave the session on the server, until its TTL expires or another process resumes it. */
  readonly keepsSession: () => boolean;
}

/**
 * Opens a session when subscribed, emits it, and keeps it alive by heartbeats. Errors when it could not be opened or has ended. Unsubscribing ends
 * it: all holds under it end locally before the server is notified.
 *
 *     open ── session ── heartbeat ── heartbeat ── (overdue: suspect) ── heartbeat ── … ── deadline, or ended by the server: error
 */
export function openSession(
  settings: SessionOpening,
  { closing, keepsSession }: SessionEnd,
): Observable<LiveSession> {
  return new Observable((subscriber) => {
    const unwanted = new AbortController();
    subscriber.add(() => {
      unwanted.abort(new QueueLockError('CLOSED', 'the caller gave up the session'));
    });
    const opened = Promise.all([connect(settings, unwanted.signal, closing), settings.standby?.()]).then(
      ([{ session, openedAt, deadline }, startStandby]) => {
        const live = {
          session,
          liveness: new Liveness(settings.clock, deadline, settings.endpoint),
          ids: new Set<string>(),
        };
        const pace = paceOf(session.ttlMs, settings);
        const standby = subscriber.closed ? undefined : startStandby?.(session, { pace, openedAt, deadline });
        if (standby) live.liveness.addProofs(standby);
        subscriber.add(() => {
          live.liveness.end(
            new QueueLockError('CLOSED', 'the client was closed', { reason: 'client-closed' }),
          );
          closing(endOrAbandon(session, { keepsSession, exited: standby?.stop(), clock: settings.clock }));
        });
        subscriber.add(heartbeat(live, { ...pace, openedAt }, settings.clock).subscribe());
        // Subscribes to the session's end before all others do. So a listener that requests a session when
        // this one ends gets a new one.
        live.liveness.health$.subscribe({
          error: (error: unknown) => {
            subscriber.error(error);
          },
        });
        subscriber.next(live);
      },
      (error: unknown) => {
        subscriber.error(error);
      },
    );
    // Registers `opened` as background work, because the session may open before the code of its heartbeat thread is loaded. If the client is closed
    // in between, `opened` settles only after the closing of the session was registered.
    closing(opened);
  });
}

interface EndOptions extends Pick<SessionEnd, 'keepsSession'> {
  /** Resolves when the heartbeat thread has exited. `undefined` without a thread. */
  readonly exited: Promise<void> | undefined;
  readonly clock: Clock;
}

/**
 * Ends the session on the server at once, or abandons it. The thread may exit seconds later, when its calls in the thread pool have returned, but it
 * starts no more heartbeats. One in flight is harmless: it cannot revive a session that was ended on the server. If the server could not be reached,
 * the session ends one TTL after that heartbeat.
 */
async function endOrAbandon(session: Session, { keepsSession, exited, clock }: EndOptions): Promise<void> {
  await reported;
  if (!keepsSession() || !session.abandon) return session.close();
  // Another process is to resume this session, so the thread must not keep it alive.
  if (exited) await settledWithin(exited, EXIT_TIMEOUT_MS, clock);
  return session.abandon();
}

/** Resolves when the promise has resolved, but not later than after `ms` milliseconds. */
function settledWithin(promise: Promise<void>, ms: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, resolve);
    void promise.then(() => {
      cancel();
      resolve();
    });
  });
}

interface Opened {
  readonly session: Session;
  readonly openedAt: number;
  /** Deadline until which the store's response to the opening proves the session. */
  readonly deadline: number;
}

// A resolved promise. It delays the request that ends the session on the server until the local listeners have been notified synchronously.
const reported = Promise.resolve();
// Longest wait in milliseconds for the exit of the heartbeat thread before its session is abandoned.
const EXIT_TIMEOUT_MS = 1_000;

/** Tries to open a session until the connect timeout. Closes a session that opens later than that or is no longer wanted. */
function connect(
  settings: SessionOpening,
  unwanted: AbortSignal,
  closing: SessionEnd['closing'],
): Promise<Opened> {
  const { clock, ttlMs, connectTimeoutMs, open } = settings;
  const stop = new AbortController();
  let failure: unknown;
  const attempt = async (): Promise<Opened> => {
    const openedAt = clock.now();
    const session = await open(ttlMs, stop.signal).catch((error: unknown) => {
      failure = error;
      settings.problem(error);
      throw error;
    });
    const deadline = deadlineOf(openedAt, session.ttlMs, paceOf(session.ttlMs, settings).safetyMarginMs);
    const isOver = deadline <= clock.now();
    if (!stop.signal.aborted && !isOver) return { session, openedAt, deadline };
    await session.close();
    stop.signal.throwIfAborted();
    // The session's proven time ended before the attempt to open the session did. The attempt may have waited for servers that do not respond before
    // one responded. The next attempt begins at the server that responded.
    failure = new QueueLockError('UNAVAILABLE', 'opening a session took longer than its proven time');
    throw failure;
  };
  const opened = repeatUntilDefinite(attempt, stop.signal);
  closing(opened.then(ignore, ignore));
  return new Promise((resolve, reject) => {
    const fail = (error: unknown): void => {
      reject(error instanceof Error ? error : new QueueLockError('UNAVAILABLE', String(error)));
      stop.abort(error);
    };
    const cancel = clock.after(connectTimeoutMs, () => {
      fail(notConnected(settings, failure));
    });
    const giveUp = (): void => {
      fail(unwanted.reason);
    };
    // The caller may have unsubscribed during the first attempt, before this code could listen for it.
    if (unwanted.aborted) giveUp();
    else unwanted.addEventListener('abort', giveUp);
    opened.then(resolve, fail).finally(cancel);
  });
}

function ignore(): void {
  // Ignores the outcome of an attempt to open a session, because only the end of the attempt matters.
}

function notConnected({ endpoint, connectTimeoutMs }: SessionOpening, cause: unknown): QueueLockError {
  const detail = cause === undefined ? '' : `: ${detailOf(cause)}`;
  return new QueueLockError(
    'UNAVAILABLE',
    `no session at ${endpoint} within ${String(connectTimeoutMs)} ms (connectTimeoutMs)${detail}`,
    { cause },
  );
}
