// Folder "api": declares the types and errors that users and authors of backends see.
// It has no other code except small functions for errors and JSON. Files for users are api.ts (this file), options.ts, hold-api.ts,
// queue-api.ts, position-api.ts and store-api.ts. Files for authors of backends are spi.ts and store-facts.ts.

import type { Observable } from 'rxjs';
import type { QueueLockError } from './errors.ts';
import type { MultiOwnership, Ownership, SharedOwnership } from './hold-api.ts';

import type { RecordedHoldsState } from './past-api.ts';
import type { PositionStream } from './position-api.ts';
import type { AcquireOptions, ClaimOptions, RunOptions, SharedOptions, WorkOptions } from './options.ts';
import type { Eviction, QueueEntry, QueueState, SharedRegister } from './queue-api.ts';
import type { QueueHistory, QueuesState } from './store-api.ts';
import type { Finding } from './store-facts.ts';
import type { ClaimState } from './claim-state.ts';
import type { ClaimOutcome } from './claim-state.ts';

/** State of a claim of several names. */
export type MultiClaimState =
  | { readonly status: 'joining' }
  /** The claim waits in all queues. `waitingFor`: the names in which another entry is still ahead. */
  | { readonly status: 'queued'; readonly waitingFor: readonly string[] }
  | { readonly status: 'held' | 'suspect'; readonly ownership: MultiOwnership }
  | ({ readonly status: 'ended' } & ClaimOutcome);

/** A lock of several names, made by `LockClient.multi`. */
export interface MultiLock {
  readonly names: readonly string[];
  /** Like `LockClient.run`, for all names together. */
  run<T>(
    work: (ownership: MultiOwnership, stop: AbortSignal) => T | PromiseLike<T>,
    options?: MultiRunOptions,
  ): Promise<Awaited<T>>;
  /** Like `LockClient.acquire`, for all names together. */
  acquire(options?: MultiOptions): Promise<MultiOwnership>;
  /**
   * Makes one attempt to take all names without waiting. Other clients may see the entries for a moment and wait behind them.
   * @returns `undefined` when another client holds or waits for one of the names
   * @throws {QueueLockError} `UNAVAILABLE` when the server did not reply to the attempt
   */
  tryAcquire(options?: Omit<MultiOptions, 'timeoutMs'>): Promise<MultiOwnership | undefined>;
  /** Like `LockClient.claim`, for all names together. */
  claim(options?: MultiOptions): Observable<MultiClaimState>;
}

/** Options for acquiring several names. Each option has the meaning that it has in `ClaimOptions`, and applies to all names. */
export type MultiOptions = Pick<
  ClaimOptions,
  'signal' | 'timeoutMs' | 'minRemainingMs' | 'owner' | 'metadata' | 'mode' | 'holding'
>;

/** Options of `run` for a lock of several names. */
export interface MultiRunOptions extends MultiOptions, WorkOptions {}

/**
 * State of the client's session. `idle`: no call has needed a session yet. `lost`: the session ended or could not be opened; the next call opens
 * another one.
 */
export interface SessionState {
  readonly status: 'idle' | 'opening' | 'alive' | 'suspect' | 'lost' | 'closed';
  /** The server's id of the session, once it is open. */
  readonly id?: string;
  /** The TTL that the server granted, in milliseconds. */
  readonly ttlMs?: number;
}

/** Settings of `LockClient.close`. */
export interface CloseOptions {
  /** Maximum time for which `close` waits for running work, in milliseconds. Default 0: `close` revokes holds at once. */
  readonly drainMs?: number;
}

/** Fair locks over one backend. All claims of a client share one session. */
export interface LockClient extends AsyncDisposable {
  /**
   * Runs `work` under a shared lock or permits of a semaphore, and passes a `SharedOwnership` to it. Otherwise does the same as `run` for an
   * exclusive lock.
   */
  run<T>(
    name: string,
    work: (ownership: SharedOwnership, stop: AbortSignal) => T | PromiseLike<T>,
    options: RunOptions & SharedOptions,
  ): Promise<Awaited<T>>;
  /**
   * Waits for the lock, runs `work` while holding it, and releases it.
   *
   * @param name of the lock: all clients that use the same name exclude each other
   * @param work called once with the ownership and a signal `stop`. `run` always waits for it, so pass `stop` to everything that it awaits. `stop`
   *   aborts on the loss of the hold, on `options.stop`, after `options.workTimeoutMs`, and when the client closes. Each read of `stop.aborted`
   *   compares the deadline with the clock. Combine it with other signals by `anySignal`, whose signals do so too. Work that stops half-way must
   *   throw, for instance by `stop.throwIfAborted()`: work that returns counts as done
   * @returns the result of `work`, after the release is confirmed. If the server cannot be reached then, it resolves when the session has
   *   certainly ended, up to one TTL later
   * @throws {QueueLockError} `OWNERSHIP_LOST` when the hold was lost while `work` ran, with the error of `work` as its `cause`. `WORK_TIMEOUT` or
   *   `CLOSED` when the timeout or the closing client stopped `work`. Otherwise the error of `work`. When the lock was never granted: `TIMEOUT`, the
   *   signal's reason, `UNAVAILABLE` or `SESSION_LOST`. It is `REENTRANT` when the call chain already holds the name, unless the name is a semaphore
   *   and all permits of the call chain fit into its limit
   * @example
   * await locks.run('invoices/42', async ({ token }, stop) => {
   *   await book({ token, signal: stop });
   * });
   */
  run<T>(
    name: string,
    work: (ownership: Ownership, stop: AbortSignal) => T | PromiseLike<T>,
    options?: RunOptions,
  ): Promise<Awaited<T>>;
  /** Acquires a shared lock or permits of a semaphore. Otherwise does the same as `acquire` for an exclusive lock. */
  acquire(name: string, options: AcquireOptions & SharedOptions): Promise<SharedOwnership>;
  /**
   * Waits for the lock and returns its ownership. Release it with `release()` or `await using`. Rejects with the same errors as a `run` whose lock
   * was never granted.
   */
  acquire(name: string, options?: AcquireOptions): Promise<Ownership>;
  /** Tries to acquire a shared lock or permits of a semaphore. Otherwise does the same as `tryAcquire` for an exclusive lock. */
  tryAcquire(
    name: string,
    options: Omit<AcquireOptions, 'timeoutMs'> & SharedOptions,
  ): Promise<SharedOwnership | undefined>;
  /**
   * Makes one attempt to take the lock without waiting, and leaves no entry behind if it fails. Since it never waits, `maxWaiters` and
   * `maxExpectedWaitMs` have no effect, and `steal` and `request` are refused.
   * @returns `undefined` when another client holds the lock or waits for it
   * @throws {QueueLockError} `UNAVAILABLE` when the server did not reply to the attempt
   */
  tryAcquire(name: string, options?: Omit<AcquireOptions, 'timeoutMs'>): Promise<Ownership | undefined>;
  /**
   * Returns a claim as a cold stream of its states. Subscribing joins the queue. Unsubscribing leaves the queue or releases the lock, also while
   * the join is under way. The stream never errors and completes after `ended`.
   * @throws {QueueLockError} `INVALID_ARGUMENT` at the call
   */
  claim(name: string, options?: ClaimOptions): Observable<ClaimState>;
  /**
   * Returns a claim whose state `queued` has a position and an expected wait, updated while other entries leave. It is a stream like that of `claim`,
   * and an async iterable:
   *
   * ```ts
   * for await (const state of locks.claimWithPosition(name)) {
   *   if (state.status === 'queued') show(state.position, state.expectedWaitMs);
   *   if (state.status === 'held') {
   *     await work(state.ownership);
   *     break; // releases
   *   }
   * }
   * ```
   *
   * The position is emitted at most four times a second. While it waits, the client watches the whole queue, with one watch for all claims of a name.
   * On etcd and memory each change is an event; other stores are read after a change, at most four times a second. If you do not show positions, use
   * `claim`, which watches only the predecessor. Where the store refuses to let the client read the queue, the claim fails with the store's error
   * code.
   */
  claimWithPosition(name: string, options?: ClaimOptions): PositionStream;
  /**
   * Returns a lock of several names, which is held when all of them are held. If two such locks use several common queues, one of them is ahead in
   * all of these queues. So they cannot deadlock with each other. A call chain that holds one lock and waits for another can still cause a deadlock.
   * A timeout, an abort or the loss of one name ends the claim or the hold of all names.
   * @param names 1 to 60 different names
   * @throws {QueueLockError} `INVALID_ARGUMENT`, also for a backend that cannot enter several queues with one call
   */
  multi(names: readonly string[]): MultiLock;
  /**
   * Removes the entry of any client, as an operator does. The client of that entry receives an error with the `eviction`: `OWNERSHIP_LOST` with the
   * reason `entry-removed` for a holder, `ENTRY_LOST` for a waiter. The next hold may begin before an evicted holder notices, for instance one whose
   * process is paused. `evictions` emits the record to all clients.
   * @returns `false` if the entry was not in the queue any more
   */
  evict(
    name: string,
    entry: Pick<QueueEntry, 'key' | 'order' | 'owner' | 'id'>,
    options: { readonly reason: string },
  ): Promise<boolean>;
  /** Emits the latest evictions from this queue, the newest last: at once, then after each change. Never errors. */
  evictions(name: string): Observable<readonly Eviction[]>;
  /**
   * Emits the recorded holds of this queue: which process held it, from when to when, and why the hold ended. Emits at once, then after each change.
   * Clients record their holds with `LockClientOptions.recordHolds`; holds of other clients are missing. Never errors.
   * @throws {QueueLockError} `INVALID_ARGUMENT` for a backend without registers
   * @example
   * const { holds } = await firstValueFrom(locks.recordedHolds('nightly').pipe(filter(({ status }) => status === 'live')));
   */
  recordedHolds(name: string): Observable<RecordedHoldsState>;
  /** Deletes the recorded holds of this queue. Retries until the store replies. Rejects in the cases in which `recordedHolds` throws. */
  forgetHolds(name: string): Promise<void>;
  /**
   * Returns a small text beside the queue that all clients share.
   * @param kind names the text, 1 to 16 lower-case letters. The package uses `evictions` and `holds`
   * @throws {QueueLockError} `INVALID_ARGUMENT`, also for a backend without registers
   */
  register(name: string, kind: string): SharedRegister;
  /** Emits the entries of a queue: its state at once, then after each change. All subscribers share one watch. Never errors. */
  watch(name: string): Observable<QueueState>;
  /**
   * Emits the queues that are not empty, sorted by name: at once, then after changes, of which several may be merged. Cold; never errors.
   * @param prefix of the names. Default: all
   * @throws {QueueLockError} `INVALID_ARGUMENT` for a backend that cannot list queues
   */
  queues(prefix?: string): Observable<QueuesState>;
  /**
   * Returns what the store still has of a queue's past. Makes one attempt, which rejects with `UNAVAILABLE` without a reply, and with
   * `INVALID_ARGUMENT` for a backend that keeps no history.
   */
  history(name: string): Promise<QueueHistory>;
  /**
   * Returns the fencing token of an entry that `watch` emitted, or `undefined` when the entry has left the queue. On etcd, SQLite and memory the
   * token is the order number of the entry, so no request is sent. On other stores one request is sent.
   */
  tokenOf(name: string, entry: Pick<QueueEntry, 'key' | 'order'>): Promise<bigint | undefined>;
  /**
   * Checks the health of the servers and of the queues whose names begin with `prefix` (default: all). Changes nothing; makes one attempt. Rejects
   * with `INVALID_ARGUMENT` for a backend without health checks.
   */
  diagnose(prefix?: string): Promise<readonly Finding[]>;
  /** Emits the state of the session: at once, then after each change. */
  readonly session$: Observable<SessionState>;
  /**
   * Emits failures that have not affected any call or hold, so that the application can log them. An example is a password file that cannot be read
   * for a new connection, so that the client uses the last valid password. Does not emit failures from before the subscription. Completes when the
   * client is closed; never errors.
   */
  readonly errors$: Observable<QueueLockError>;
  /**
   * Returns the text with which another process resumes this session and its entries, by `LockClientOptions.resume`: after `abandon`, or after a
   * crash if the text was stored before. Opens a session if the client has none. The text is a secret: a process that has it can act as this client.
   * After this call, a waiter of the same session on etcd is granted only after etcd has confirmed the release.
   * @returns a text that is valid as long as the session lives, also for entries that are created later
   * @throws {QueueLockError} `INVALID_ARGUMENT` on a backend that cannot resume sessions
   */
  exportSession(): Promise<string>;
  /**
   * Closes the client, but leaves its session and entries on the server until the TTL ends or another process resumes the session. All holds of
   * this client are lost with the reason `client-closed`.
   */
  abandon(): Promise<void>;
  /**
   * Closes the client: waiters reject with `CLOSED`, holds are lost with the reason `client-closed`, entries are removed, and the backend is closed.
   * Later calls reject with `CLOSED`, and the process may exit. A repeated call returns the outcome of the first. With `drainMs`, the client waits
   * for running work before it closes. As soon as `close` is called, new claims and waiters reject with `CLOSED`, and the `stop` signal of each `run`
   * aborts (also in multi-locks, semaphores and `lead`). When all this work has released its locks, or after `drainMs`, the remaining holds are lost.
   * Those include the holds of `acquire` and `claim`, which have no `stop` signal.
   */
  close(options?: CloseOptions): Promise<void>;
}
