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
import { PROOF_LAG } from './session/heartbeat-proof.ts';
import { connect, type ConnectRequest } from './server/connect.ts';
import type { ZkDriver } from './driver/driver.ts';
import { keptToken } from './queue/entries.ts';
import { entryIn, evictEntry } from './views/evict.ts';
import { diagnose } from './views/diagnose.ts';
import { historyOf } from './views/history.ts';
import { observeQueue } from './views/observe.ts';
import type { Settings } from './api/options.ts';
import { Pace } from './base/pace.ts';
import { placeOf } from './queue/queue-place.ts';
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
import { checkAsked, checkGranted, shortestSession } from './server/shortest-session.ts';
import type { Dial } from './wire/dial.ts';

// The session of the connection that only looks; nothing lives under it.
const VIEWER_TTL_MS = 10_000;
// Kept for the next observer.
const VIEWER_LINGERS_MS = 1_000;

/** ZooKeeper as a backend: a connection for each session, and one for all observers while there are any. */
export class ZooKeeperBackend implements Backend {
  readonly info: BackendInfo;
  readonly errors$: NonNullable<Backend['errors$']>;
  readonly registers: Registers;
  readonly #settings: Settings;
  readonly #dial: Dial | undefined;
  readonly #clock = systemClock();
  readonly #followed = new LocalWaiters();
  readonly #closing = new AbortController();
  /** Of openings that came to nothing: the next ones go on with them. */
  readonly #paces: Pace[] = [];
  readonly #connections = new Set<ZkDriver>();
  readonly #viewer$: Observable<ZkDriver>;

  /** @param dial how the wire client has its sockets, for tests */
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
    };
    this.#viewer$ = this.#view().pipe(
      share({
        connector: () => new ReplaySubject(1),
        resetOnRefCountZero: () => timer(VIEWER_LINGERS_MS),
        resetOnError: true,
        resetOnComplete: true,
      }),
    );
    this.registers = new NodeRegisters({
      root: settings.root,
      viewer$: this.#viewer$,
      ask: (work) => this.#ask(work),
      shown: (seen$) => this.#shown(seen$),
    } satisfies RegisterStore);
  }

  checkName(queue: string): void {
    placeOf(this.#settings, queue);
  }

  async open(ttlMs: number, signal: AbortSignal): Promise<Session> {
    checkAsked(ttlMs, this.#settings);
    try {
      return await this.#session({ ttlMs, signal });
    } catch (error) {
      signal.throwIfAborted();
      throw this.#outside(error);
    }
  }

  async resume(resumption: string, signal: AbortSignal): Promise<Session> {
    const wanted = { ...parseResumption(resumption), signal };
    try {
      return await this.#session(wanted);
    } catch (error) {
      signal.throwIfAborted();
      throw isQueueLockError(error, 'SESSION_LOST') ? error : this.#outside(error);
    }
  }

  observe(queue: string, looking?: ObserveOptions): Observable<readonly StoredEntry[]> {
    return this.#shown(
      this.#viewer$.pipe(switchMap((zk) => observeQueue(zk, placeOf(this.#settings, queue), looking))),
    );
  }

  async evict(queue: string, entry: Pick<StoredEntry, 'key' | 'order'>): Promise<boolean> {
    const place = placeOf(this.#settings, queue);
    entryIn(place, entry.key);
    return this.#ask((zk) => evictEntry(zk, place, entry));
  }

  async tokenOf(queue: string, { key }: Pick<StoredEntry, 'key'>): Promise<bigint | undefined> {
    const place = placeOf(this.#settings, queue);
    const { name } = entryIn(place, key);
    return this.#ask(async (zk) => {
      const stat = await zk.stat(key);
      return stat && (keptToken(name, place.scheme) ?? stat.czxid);
    });
  }

  queues(prefix: string): Observable<readonly ListedQueue[]> {
    return this.#shown(this.#viewer$.pipe(switchMap((zk) => observeQueues(zk, this.#settings, prefix))));
  }

  history(queue: string): Promise<StoredHistory> {
    return this.#ask((zk) => historyOf(zk, placeOf(this.#settings, queue)));
  }

  diagnose(prefix: string): Promise<readonly Finding[]> {
    return this.#ask((zk) => diagnose(zk, this.#settings, prefix));
  }

  async close(): Promise<void> {
    this.#closing.abort(closed());
    await Promise.all([...this.#connections].map((zk) => zk.close()));
  }

  async #session(wanted: Wanted): Promise<Session> {
    const zk = await this.#connect(wanted);
    try {
      checkGranted(zk.timeoutMs, wanted.ttlMs, this.#settings);
      const { root, schemeFor } = this.#settings;
      const isResumed = wanted.session !== undefined;
      const place = { root, schemeFor, clock: this.#clock, isResumed, followed: this.#followed };
      return await openSession(zk, place);
    } catch (error) {
      await leave(zk, wanted);
      throw error;
    }
  }

  async #connect(wanted: Wanted): Promise<ZkDriver> {
    const signal = AbortSignal.any([wanted.signal, this.#closing.signal]);
    const clock = this.#clock;
    const pace = this.#paces.pop() ?? new Pace(clock);
    const request = { ...wanted, dial: this.#dial, clock, pace, signal };
    const zk = await connect(this.#settings, request).catch((error: unknown) => {
      this.#paces.push(pace);
      throw error;
    });
    this.#connections.add(zk);
    if (signal.aborted) void leave(zk, wanted);
    const forget = (): unknown => this.#connections.delete(zk);
    zk.ended$.subscribe({ error: forget, complete: forget });
    return zk;
  }

  #shown<T>(seen$: Observable<T>): Observable<T> {
    return defer(() => {
      if (this.#closing.signal.aborted) throw closed();
      // Whoever still looks when the backend is closed sees nothing any more.
      return seen$.pipe(
        catchError((error: unknown) =>
          this.#closing.signal.aborted ? NEVER : throwError(() => this.#outside(error)),
        ),
      );
    });
  }

  /** Asks through the connection that only looks. */
  async #ask<T>(work: (zk: ZkDriver) => Promise<T>): Promise<T> {
    if (this.#closing.signal.aborted) throw closed();
    try {
      const answer$ = this.#viewer$.pipe(
        switchMap((zk) => work(zk)),
        map((value) => ({ value })),
      );
      const answer = await firstValueFrom(answer$, { defaultValue: undefined });
      if (answer) return answer.value;
      throw closed();
    } catch (error) {
      throw this.#outside(error);
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

type Wanted = Omit<ConnectRequest, 'dial' | 'clock' | 'pace'>;

/** Nobody here ends a session that somebody else has made. */
function leave(zk: ZkDriver, { session }: Wanted): Promise<void> {
  return session ? zk.abandon() : zk.close();
}

function closed(): QueueLockError {
  return new QueueLockError('CLOSED', 'the ZooKeeper backend was closed');
}
