import { QueueLockError, isQueueLockError, systemClock } from '@queuelock/core/backend';
import type { Backend, BackendInfo, SeenEntry, Session } from '@queuelock/core/backend';
import { connect } from './connect.ts';
import type { ZkDriver } from './driver.ts';
import { queuePath } from './names.ts';
import { observeQueue } from './observe.ts';
import type { Settings } from './options.ts';
import {
  NEVER,
  Observable,
  catchError,
  defer,
  share,
  switchMap,
  throwError,
  timer,
  ReplaySubject,
} from './rx.ts';
import { openSession } from './session.ts';
import { checkAsked, checkGranted, shortestSession } from './shortest-session.ts';

// The session of the connection that only looks; nothing lives under it.
const VIEWER_TTL_MS = 10_000;
// Kept for the next observer.
const VIEWER_LINGERS_MS = 1_000;

/** ZooKeeper as a backend: a connection for each session, and one for all observers while there are any. */
export class ZooKeeperBackend implements Backend {
  readonly info: BackendInfo;
  readonly #settings: Settings;
  readonly #clock = systemClock();
  readonly #closing = new AbortController();
  readonly #connections = new Set<ZkDriver>();
  readonly #viewer$: Observable<ZkDriver>;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.info = {
      name: 'zookeeper',
      endpoint: settings.endpoint,
      authority: 'quorum',
      ...shortestSession(settings),
    };
    this.#viewer$ = this.#view().pipe(
      share({
        connector: () => new ReplaySubject(1),
        resetOnRefCountZero: () => timer(VIEWER_LINGERS_MS),
        resetOnError: true,
        resetOnComplete: true,
      }),
    );
  }

  checkName(queue: string): void {
    queuePath(this.#settings.root, queue);
  }

  async open(ttlMs: number, signal: AbortSignal): Promise<Session> {
    checkAsked(ttlMs, this.#settings);
    try {
      return await this.#session(await this.#connect(ttlMs, signal), ttlMs);
    } catch (error) {
      signal.throwIfAborted();
      throw this.#outside(error);
    }
  }

  observe(queue: string): Observable<readonly SeenEntry[]> {
    return defer(() => {
      if (this.#closing.signal.aborted) throw closed();
      const directory = queuePath(this.#settings.root, queue);
      return this.#viewer$.pipe(
        switchMap((zk) => observeQueue(zk, directory)),
        // Who still looks when the backend is closed sees nothing any more.
        catchError((error: unknown) =>
          this.#closing.signal.aborted ? NEVER : throwError(() => this.#outside(error)),
        ),
      );
    });
  }

  async close(): Promise<void> {
    this.#closing.abort(closed());
    await Promise.all([...this.#connections].map((zk) => zk.close()));
  }

  async #session(zk: ZkDriver, ttlMs: number): Promise<Session> {
    try {
      checkGranted(zk.timeoutMs, ttlMs, this.#settings);
      return await openSession(zk, { root: this.#settings.root, clock: this.#clock });
    } catch (error) {
      await zk.close();
      throw error;
    }
  }

  async #connect(ttlMs: number, signal: AbortSignal): Promise<ZkDriver> {
    const either = AbortSignal.any([signal, this.#closing.signal]);
    const zk = await connect(this.#settings, { ttlMs, clock: this.#clock, signal: either });
    this.#connections.add(zk);
    if (either.aborted) void zk.close();
    zk.ended$.subscribe({ error: () => this.#connections.delete(zk) });
    return zk;
  }

  #view(): Observable<ZkDriver> {
    return new Observable((subscriber) => {
      const unwanted = new AbortController();
      this.#connect(VIEWER_TTL_MS, unwanted.signal).then(
        (zk) => {
          subscriber.add(() => void zk.close());
          subscriber.add(zk.ended$.subscribe({ error: (error: unknown) => subscriber.error(error) }));
          subscriber.next(zk);
        },
        (error: unknown) => subscriber.error(error),
      );
      return () => {
        unwanted.abort(new QueueLockError('CLOSED', 'nobody observes any more'));
      };
    });
  }

  /** To those who have no session, or not yet, the loss of one is trouble that passes. */
  #outside(error: unknown): Error {
    if (this.#closing.signal.aborted) return closed();
    if (!isQueueLockError(error, 'SESSION_LOST'))
      return error instanceof Error ? error : new Error(String(error));
    const { endpoint } = this.#settings;
    return new QueueLockError('UNAVAILABLE', `the ZooKeeper session at ${endpoint} ended`, { cause: error });
  }
}

function closed(): QueueLockError {
  return new QueueLockError('CLOSED', 'the ZooKeeper backend was closed');
}
