// Chapter api: what do users and authors of backends see?
// Types and errors, and no mechanism: api, options, hold-api, queue-api, position-api, store-api for users; spi, store-facts for backends.

import type { Observable } from 'rxjs';
import type { QueueLockError } from './errors.ts';
import type { HandoverAnswer, MultiOwnership, Ownership, SharedOwnership } from './hold-api.ts';
import type { PositionStream } from './position-api.ts';
import type { AcquireOptions, ClaimOptions, RunOptions, SharedOptions, WorkOptions } from './options.ts';
import type { Eviction, QueueEntry, QueueState, SharedRegister } from './queue-api.ts';
import type { QueueHistory, QueuesState } from './store-api.ts';
import type { Finding } from './store-facts.ts';

/** What a claim is at the moment. As JSON, bigints are decimal texts; so it is with all states, entries, ownerships and errors. */
export type ClaimState =
  | { readonly status: 'joining' }
  /** In line. `entriesAhead`: those that conflict, who hold among them, as of the last look; where the store tells it for free. See `claimWithPosition`. */
  | {
      readonly status: 'queued';
      readonly entriesAhead: number | undefined;
      readonly order: bigint;
      /** The fencing token that it will have once it holds the lock. */
      readonly token: bigint;
      /** As `SharedOwnership.key`, also in its effect: do not read it for a log. */
      readonly key: string;
      /** Of the entry; see `QueueEntry.id`. */
      readonly id: string;
      /** With a `request`: the holder's answer, once there is one. */
      readonly answer?: HandoverAnswer;
    }
  | { readonly status: 'held'; readonly ownership: Ownership }
  /** Still held, but a heartbeat is overdue: it will be `held` again or lost within `ownership.remainingMs`. */
  | { readonly status: 'suspect'; readonly ownership: Ownership }
  | ({ readonly status: 'ended' } & ClaimOutcome);

/** How a claim ended. */
export type ClaimOutcome =
  | { readonly outcome: 'released' }
  /** It was held and is lost. */
  | { readonly outcome: 'lost'; readonly error: QueueLockError }
  /** It was never held: timeout, abort (`error` is the signal's reason), lost session, refused by the server, closed. */
  | { readonly outcome: 'failed'; readonly error: unknown };

/** What a claim of several names is at the moment. */
export type MultiClaimState =
  | { readonly status: 'joining' }
  /** In all lines. `waitingFor`: the names whose turn has not come. */
  | { readonly status: 'queued'; readonly waitingFor: readonly string[] }
  | { readonly status: 'held' | 'suspect'; readonly ownership: MultiOwnership }
  | ({ readonly status: 'ended' } & ClaimOutcome);

/** Several names taken together; made by `LockClient.multi`. */
export interface MultiLock {
  readonly names: readonly string[];
  /** As `LockClient.run`. */
  run<T>(
    work: (ownership: MultiOwnership, stop: AbortSignal) => T | PromiseLike<T>,
    options?: MultiRunOptions,
  ): Promise<Awaited<T>>;
  /** As `LockClient.acquire`. */
  acquire(options?: MultiOptions): Promise<MultiOwnership>;
  /**
   * All of them if nobody is ahead anywhere, `undefined` otherwise; for a moment others may have stood behind it. One attempt: rejects
   * with `UNAVAILABLE` when that got no answer.
   */
  tryAcquire(options?: Omit<MultiOptions, 'timeoutMs'>): Promise<MultiOwnership | undefined>;
  /** As `LockClient.claim`. */
  claim(options?: MultiOptions): Observable<MultiClaimState>;
}

/** Settings of a multi-lock's acquisition: what `ClaimOptions` says, for all names. */
export type MultiOptions = Pick<
  ClaimOptions,
  'signal' | 'timeoutMs' | 'minRemainingMs' | 'owner' | 'metadata' | 'mode' | 'holding'
>;

/** Settings of a multi-lock's `run`. */
export interface MultiRunOptions extends MultiOptions, WorkOptions {}

/** Liveness of the client's session. `idle`: nothing needed one yet. `lost`: it ended or could not be opened; the next call opens another. */
export interface SessionState {
  readonly status: 'idle' | 'opening' | 'alive' | 'suspect' | 'lost' | 'closed';
  /** The server's name for the session, once it is open. */
  readonly id?: string;
  /** As granted, in milliseconds. */
  readonly ttlMs?: number;
}

/** How a client is closed. */
export interface CloseOptions {
  /** Longest time for works that are under way, in milliseconds. Default 0: holds are revoked at once. */
  readonly drainMs?: number;
}

/** Fair locks over one backend; one session, shared by all. */
export interface LockClient extends AsyncDisposable {
  /** With others: what is held is a `SharedOwnership`. Otherwise as the one that follows. */
  run<T>(
    name: string,
    work: (ownership: SharedOwnership, stop: AbortSignal) => T | PromiseLike<T>,
    options: RunOptions & SharedOptions,
  ): Promise<Awaited<T>>;
  /**
   * Waits for the lock, runs `work` under it, releases, and answers what `work` answered: whoever is told by it may count on the release.
   * So where the server cannot be reached at the end, it answers when that has confirmed it or the session has surely ended, up to a
   * TTL later; what `work` came to by then is not judged by that.
   * Rejects with `OWNERSHIP_LOST` when the hold was lost while `work` ran, whatever `work` did (its own error is the
   * `cause`). Rejects with the error of `work` otherwise, or with `WORK_TIMEOUT` or `CLOSED` where that ended it; with `REENTRANT` when called inside the `work` of the same name, unless the permits of both fit into its limit; with `TIMEOUT`, the signal's
   * reason, `UNAVAILABLE`, `SESSION_LOST` when the turn never came.
   *
   * @param work is always waited for, so give its `stop` to all that it waits for. `stop` aborts at the first of: the loss of the hold, `options.stop`,
   *   the end of `options.workTimeoutMs`, a `close` of the client. Each look at it compares with the clock, so it is right also after a blocked event
   *   loop; derive from it with `anySignal`, which looks too. A work that stops half-way has to throw (`stop.throwIfAborted()`): one that returns has done it.
   */
  run<T>(
    name: string,
    work: (ownership: Ownership, stop: AbortSignal) => T | PromiseLike<T>,
    options?: RunOptions,
  ): Promise<Awaited<T>>;
  /** With others: what is held is a `SharedOwnership`. Otherwise as the one that follows. */
  acquire(name: string, options: AcquireOptions & SharedOptions): Promise<SharedOwnership>;
  /** Waits for the lock; release it with `release()` or `await using`. Rejects as `run` does. */
  acquire(name: string, options?: AcquireOptions): Promise<Ownership>;
  /** With others: what is held is a `SharedOwnership`. Otherwise as the one that follows. */
  tryAcquire(
    name: string,
    options: Omit<AcquireOptions, 'timeoutMs'> & SharedOptions,
  ): Promise<SharedOwnership | undefined>;
  /**
   * The lock if nobody is ahead, `undefined` if somebody is: busy is an answer, not an error. Leaves nothing behind. One attempt: rejects
   * with `UNAVAILABLE` when that got no answer. It never stands in line, so `maxWaiters` and `maxExpectedWaitMs` are kept by themselves,
   * and `steal` and `request` are refused.
   */
  tryAcquire(name: string, options?: Omit<AcquireOptions, 'timeoutMs'>): Promise<Ownership | undefined>;
  /**
   * A claim as a stream. Subscribing joins the queue; unsubscribing leaves it or releases, also while the join is on its
   * way. Never errors; completes after `ended`. Throws `INVALID_ARGUMENT` at the call, not on the stream.
   */
  claim(name: string, options?: ClaimOptions): Observable<ClaimState>;
  /**
   * A claim with its place: from `joining` over `queued`, with `position` and `expectedWaitMs`, counting down while others leave, to `held` and
   * `ended`. `queued` is told as soon as the queue was seen. A stream as `claim`, and something to loop over:
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
   * What it costs: while it waits it watches the whole queue, one watch for all who ask for a name in this client. On etcd and memory that is
   * an event for each change, elsewhere a read of the queue after a change, at most four a second however many changes there are. The place
   * is told at most four times a second. Fails as `maxWaiters` does where the queue may not be read. A waiter without it watches only the one ahead.
   */
  claimWithPosition(name: string, options?: ClaimOptions): PositionStream;
  /**
   * Several names as one lock, no two alike, at most 60. All queues are entered at one point of the store's order, so any two
   * multi-locks stand in the same order in every queue that they share, and cannot wait for each other in a circle. (A call chain
   * that holds one and waits for another lock still can.) All or nothing: a timeout, an abort, the loss of one ends all.
   * Throws `INVALID_ARGUMENT` for a backend that cannot.
   */
  multi(names: readonly string[]): MultiLock;
  /**
   * Removes somebody's entry, as an operator does; `false` if it is not there any more. Its owner learns who and why: a holder by
   * `OWNERSHIP_LOST` (`entry-removed`), a waiter by `ENTRY_LOST`, both with `eviction`. There is no proof that a holder has
   * noticed before the next one begins: it is a paused holder that one evicts. Kept for all to see by `evictions`.
   */
  evict(
    name: string,
    entry: Pick<QueueEntry, 'key' | 'order' | 'owner' | 'id'>,
    options: { readonly reason: string },
  ): Promise<boolean>;
  /** The latest evictions from this queue, the newest last: now, then at every change. Never errors. */
  evictions(name: string): Observable<readonly Eviction[]>;
  /** A shared text beside the queue. `kind`: 1 to 16 lower-case letters. Throws `INVALID_ARGUMENT` for a backend that has none. */
  register(name: string, kind: string): SharedRegister;
  /** A queue as everybody can see it: the present state at once, then every change. Shared; never errors. */
  watch(name: string): Observable<QueueState>;
  /**
   * The queues that are not empty and whose names begin with `prefix` (default: all), by name: now, then their changes, merged. Cold;
   * never errors. Throws `INVALID_ARGUMENT` for a backend that has no list; so `history` and `diagnose`.
   */
  queues(prefix?: string): Observable<QueuesState>;
  /** What the store still knows of a queue's past. Rejects with `UNAVAILABLE` when it cannot be asked; one attempt. */
  history(name: string): Promise<QueueHistory>;
  /**
   * The fencing token of an entry as `watch` showed it. Where that is its order (etcd, SQLite, memory) nobody is asked; else one attempt,
   * and `undefined` when the entry is gone.
   */
  tokenOf(name: string, entry: Pick<QueueEntry, 'key' | 'order'>): Promise<bigint | undefined>;
  /** What is to be said about the servers and about the queues whose names begin with `prefix` (default: all). Changes nothing; one attempt. */
  diagnose(prefix?: string): Promise<readonly Finding[]>;
  /** The session's state, the present one first. */
  readonly session$: Observable<SessionState>;
  /**
   * What another process needs to resume this client's session and its entries, as `LockClientOptions.resume`: after `abandon`, or
   * after a crash if it was kept in time. Opens the session if need be. A secret: a process that has it can act as this client. On etcd the
   * session hands over to waiters of its own only when etcd has confirmed the release, from then on.
   * @returns a text for as long as the session lives; it stays right for entries that the session makes later
   * @throws {QueueLockError} `INVALID_ARGUMENT` on a backend that cannot resume sessions
   */
  exportSession(): Promise<string>;
  /**
   * As `close`, but the session and its entries stay on the server until the TTL is over or somebody resumes it. What is held counts
   * as lost here (`client-closed`).
   */
  abandon(): Promise<void>;
  /**
   * Ends everything: waiters reject with `CLOSED`, ownerships are revoked (`client-closed`) and their entries removed,
   * the backend is closed. Afterwards every call rejects with `CLOSED`, and the process may exit. A repeated call answers as the first.
   *
   * With `drainMs` works come to an end first: from now on every new claim rejects with `CLOSED`, who waits does so at once, and the `stop` of each
   * `run` (also of several names, of semaphores and `lead`) aborts with `CLOSED`. It waits until those works have ended and released, at most `drainMs`; then
   * it revokes the rest, among it whatever `acquire` and `claim` hold.
   */
  close(options?: CloseOptions): Promise<void>;
}
