import { LocalWaiters, QueueLockError, isQueueLockError, systemClock } from '@queuelock/core/backend';
import type {
  Backend,
  BackendInfo,
  Finding,
  ListedQueue,
  ObserveOptions,
  Registers,
  StoredEntry,
  Session,
  StoredHistory,
} from '@queuelock/core/backend';
import { MAIN_THREAD_RULE, PROOF_LAG } from './session/heartbeat-proof.ts';
import { connect, type ConnectRequest } from './server/connect.ts';
import type { ZkDriver } from './driver/driver.ts';
import { keptToken } from './queue/entries.ts';
import { entryIn, evictEntry } from './views/evict.ts';
import { diagnose } from './views/diagnose.ts';
import { historyOf } from './views/history.ts';
import { observeQueue } from './views/observe.ts';
import type { Settings } from './api/options.ts';
import { ConnectionPacer } from './base/connection-pacer.ts';
import { locationOf } from './queue/queue-location.ts';
import { observeQueues } from './views/queues.ts';
import { NodeRegisters, type RegisterStore } from './views/registers.ts';
import { parseResumption } from './session/resumption.ts';
import {
  EMPTY,
  NEVER,
  Observable,
  catchError,
  defer,
  firstValueFrom,
  map,
  share,
  switchMap,
  throwError,
  timer,
  ReplaySubject,
} from './base/rx.ts';
import { openSession } from './session/session.ts';
import { checkRequested, checkGranted, shortestSession } from './server/shortest-session.ts';
import type { Dial } from './wire/dial.ts';

// The session timeout of the connection for observers, in milliseconds. This session creates no nodes.
const VIEWER_TTL_MS = 10_000;
// How long the connection for observers stays open after the last observer has left, in milliseconds.
const VIEWER_IDLE_MS = 1_000;

/** The ZooKeeper backend. It uses one connection per session, and one for all observers while there are any. */
export class ZooKeeperBackend implements Backend {
  readonly info: BackendInfo;
  readonly errors$: NonNullable<Backend['errors$']>;
  readonly registers: Registers;
  readonly #settings: Settings;
  readonly #dial: Dial | undefined;
  readonly #clock = systemClock();
  readonly #followed = new LocalWaiters();
  readonly #closing = new AbortController();
  /** The backoff states of failed connection attempts. Each new attempt continues one of them. */
  readonly #pacers: ConnectionPacer[] = [];
  readonly #connections = new Set<ZkDriver>();
  readonly #viewer$: Observable<ZkDriver>;

  /** @param dial opens the sockets, in tests of transport `wire` */
  constructor(settings: Settings, dial?: Dial) {
    this.#settings = settings;
    this.#dial = dial;
    this.errors$ = settings.tls?.errors$ ?? EMPTY;
    this.info = {
      name: 'zookeeper',
      endpoint: settings.endpoint,
      authority: 'quorum',
      ...shortestSession(settings),
      proofLag: PROOF_LAG,
      mainThreadRule: MAIN_THREAD_RULE,
    };
    this.#viewer$ = this.#view().pipe(
      share({
        connector: () => new ReplaySubject(1),
        resetOnRefCountZero: () => timer(VIEWER_IDLE_MS),
        resetOnError: true,
        resetOnComplete: true,
      }),
    );
    this.registers = new NodeRegisters({
      root: settings.root,
      viewer$: this.#viewer$,
      withViewer: (work) => this.#withViewer(work),
      mapErrors: (values$) => this.#mapErrors(values$),
    } satisfies RegisterStore);
  }

  checkName(queue: string): void {
    locationOf(this.#settings, queue);
  }

  async open(ttlMs: number, signal: AbortSignal): Promise<Session> {
    checkRequested(ttlMs, this.#settings);
    try {
      return await this.#session({ ttlMs, signal });
    } catch (error) {
      signal.throwIfAborted();
      throw this.#toBackendError(error);
    }
  }

  async resume(resumption: string, signal: AbortSignal): Promise<Session> {
    const request = { ...parseResumption(resumption), signal };
    try {
      return await this.#session(request);
    } catch (error) {
      signal.throwIfAborted();
      throw isQueueLockError(error, 'SESSION_LOST') ? error : this.#toBackendError(error);
    }
  }

  observe(queue: string, options?: ObserveOptions): Observable<readonly StoredEntry[]> {
    return this.#mapErrors(
      this.#viewer$.pipe(switchMap((zk) => observeQueue(zk, locationOf(this.#settings, queue), options))),
    );
  }

  async evict(queue: string, entry: Pick<StoredEntry, 'key' | 'order'>): Promise<boolean> {
    const location = locationOf(this.#settings, queue);
    entryIn(location, entry.key);
    return this.#withViewer((zk) => evictEntry(zk, location, entry));
  }

  async tokenOf(queue: string, { key }: Pick<StoredEntry, 'key'>): Promise<bigint | undefined> {
    const location = locationOf(this.#settings, queue);
    const { name } = entryIn(location, key);
    return this.#withViewer(async (zk) => {
      const stat = await zk.stat(key);
      return stat && (keptToken(name, location.scheme) ?? stat.czxid);
    });
  }

  queues(prefix: string): Observable<readonly ListedQueue[]> {
    return this.#mapErrors(this.#viewer$.pipe(switchMap((zk) => observeQueues(zk, this.#settings, prefix))));
  }

  history(queue: string): Promise<StoredHistory> {
    return this.#withViewer((zk) => historyOf(zk, locationOf(this.#settings, queue)));
  }

  diagnose(prefix: string): Promise<readonly Finding[]> {
    return diagnose((read) => this.#withViewer(read), this.#settings, prefix);
  }

  async close(): Promise<void> {
    this.#closing.abort(closed());
    await Promise.all([...this.#connections].map((zk) => zk.close()));
  }

  async #session(request: SessionRequest): Promise<Session> {
    const zk = await this.#connect(request);
    try {
      checkGranted(zk.timeoutMs, request.ttlMs, this.#settings);
      const { root, schemeFor } = this.#settings;
      const isResumed = request.session !== undefined;
      const location = { root, schemeFor, clock: this.#clock, isResumed, followed: this.#followed };
      return await openSession(zk, location);
    } catch (error) {
      await disconnect(zk, request);
      throw error;
    }
  }

  async #connect(sessionRequest: SessionRequest): Promise<ZkDriver> {
    const signal = AbortSignal.any([sessionRequest.signal, this.#closing.signal]);
    const clock = this.#clock;
    const pacer = this.#pacers.pop() ?? new ConnectionPacer(clock);
    const request = { ...sessionRequest, dial: this.#dial, clock, pacer, signal };
    const zk = await connect(this.#settings, request).catch((error: unknown) => {
      this.#pacers.push(pacer);
      throw error;
    });
    this.#connections.add(zk);
    if (signal.aborted) void disconnect(zk, sessionRequest);
    const forget = (): unknown => this.#connections.delete(zk);
    zk.ended$.subscribe({ error: forget, complete: forget });
    return zk;
  }

  #mapErrors<T>(values$: Observable<T>): Observable<T> {
    return defer(() => {
      if (this.#closing.signal.aborted) throw closed();
      // When the backend is closed, the remaining observers get neither a value nor an error.
      return values$.pipe(
        catchError((error: unknown) =>
          this.#closing.signal.aborted ? NEVER : throwError(() => this.#toBackendError(error)),
        ),
      );
    });
  }

  /** Runs work on the connection for observers. */
  async #withViewer<T>(work: (zk: ZkDriver) => Promise<T>): Promise<T> {
    if (this.#closing.signal.aborted) throw closed();
    try {
      const result$ = this.#viewer$.pipe(
        switchMap((zk) => work(zk)),
        map((value) => ({ value })),
      );
      const result = await firstValueFrom(result$, { defaultValue: undefined });
      if (result) return result.value;
      throw closed();
    } catch (error) {
      throw this.#toBackendError(error);
    }
  }

  #view(): Observable<ZkDriver> {
    return new Observable((subscriber) => {
      const unwanted = new AbortController();
      this.#connect({ ttlMs: VIEWER_TTL_MS, signal: unwanted.signal }).then(
        (zk) => {
          subscriber.add(() => void zk.close());
          subscriber.add(zk.ended$.subscribe({ error: (error: unknown) => subscriber.error(error) }));
          subscriber.next(zk);
        },
        (error: unknown) => subscriber.error(error),
      );
      return () => {
        unwanted.abort(new QueueLockError('CLOSED', 'the last observer has unsubscribed'));
      };
    });
  }

  /** Converts an error of a session that the caller has not opened. The loss of such a session is a temporary failure. */
  #toBackendError(error: unknown): Error {
    if (this.#closing.signal.aborted) return closed();
    if (!isQueueLockError(error, 'SESSION_LOST'))
      return error instanceof Error ? error : new Error(String(error));
    const { endpoint } = this.#settings;
    return new QueueLockError('UNAVAILABLE', `the ZooKeeper session at ${endpoint} ended`, { cause: error });
  }
}

type SessionRequest = Omit<ConnectRequest, 'dial' | 'clock' | 'pacer'>;

/** Disconnects a driver. Ends its session, too, unless the request was to resume the session of another client. */
function disconnect(zk: ZkDriver, { session }: SessionRequest): Promise<void> {
  return session ? zk.abandon() : zk.close();
}

function closed(): QueueLockError {
  return new QueueLockError('CLOSED', 'the ZooKeeper backend was closed');
}
