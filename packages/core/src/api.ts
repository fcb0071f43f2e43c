import type { Observable } from 'rxjs';
import type { QueueLockError } from './errors.ts';
import type { AcquireOptions } from './options.ts';

/** The right to act, for as long as `held` says so. */
export interface Ownership extends AsyncDisposable {
  readonly name: string;
  /** The entry's key or path as the store holds it. */
  readonly key: string;
  /** The server's order of the entry within its queue. */
  readonly order: bigint;
  /** Fencing token: larger than that of every earlier holder of this name, for ever. Send it with every protected write. */
  readonly token: bigint;
  /**
   * Aborts when the ownership is lost (never when it is released), with a {@link QueueLockError} `OWNERSHIP_LOST` as
   * reason, no later than the server may grant the lock to the next. Looking at it checks the clock, so it is right
   * even when timers are late (a blocked event loop, a resumed process).
   */
  readonly signal: AbortSignal;
  /** Whether the lock is held at this very moment; compares with the clock. */
  readonly held: boolean;
  /** Milliseconds for which the hold is proven from now on; 0 when it is not held. Grows with every heartbeat. */
  readonly remainingMs: number;
  /**
   * For the line before an effect that others can see: throws `OWNERSHIP_LOST` when the lock is not held any more, and
   * `NOT_ENOUGH_TIME` when less than `needsMs` of the hold is proven, for instance the timeout of the request that follows.
   * Call it in the same synchronous block as the send: between a check and an `await`'s end a process may stand still.
   */
  throwIfLost(needsMs?: number): void;
  /**
   * Gives the lock up. Settles when the server has confirmed it or the session has surely ended; a lost connection makes
   * it take longer, never fail. Calling it again answers the same. After a loss it does nothing.
   */
  release(): Promise<void>;
}

/** What a claim is at the moment. */
export type ClaimState =
  | { readonly status: 'joining' }
  /** In line. `position`: entries ahead as of the last look, where the store tells it for free. */
  | {
      readonly status: 'queued';
      readonly position: number | undefined;
      readonly order: bigint;
      /** The fencing token that it will have once it holds the lock. */
      readonly token: bigint;
      readonly key: string;
    }
  | { readonly status: 'held'; readonly ownership: Ownership }
  /** Still held, but a heartbeat is overdue: it will be `held` again or lost within `ownership.remainingMs`. */
  | { readonly status: 'doubtful'; readonly ownership: Ownership }
  | ({ readonly status: 'ended' } & ClaimOutcome);

/** How a claim ended. */
export type ClaimOutcome =
  | { readonly outcome: 'released' }
  /** It was held and is lost. */
  | { readonly outcome: 'lost'; readonly error: QueueLockError }
  /** It was never held: timeout, abort (`error` is the signal's reason), lost session, refused by the server, closed. */
  | { readonly outcome: 'failed'; readonly error: unknown };

/** One contender as everybody can see it. */
export interface QueueEntry {
  readonly key: string;
  readonly order: bigint;
  readonly shared: boolean;
  /** The label its client gave; for clients of other kinds, whatever they stored. */
  readonly owner: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** The present state of a queue; the first entry holds the lock, unless its client has not noticed yet. */
export interface QueueState {
  /** `connecting` until the first answer; `stale` while the server cannot be reached: `entries` are then the last known. */
  readonly status: 'connecting' | 'live' | 'stale';
  readonly name: string;
  /** In the server's order. */
  readonly entries: readonly QueueEntry[];
}

/** Liveness of the client's session. `idle`: nothing needed one yet. `lost`: it ended or could not be opened; the next call opens another. */
export interface SessionState {
  readonly status: 'idle' | 'opening' | 'alive' | 'doubtful' | 'lost' | 'closed';
  /** The server's name for the session, once it is open. */
  readonly id?: string;
  /** As granted, in milliseconds. */
  readonly ttlMs?: number;
}

/** Fair locks over one backend; one session, shared by all. */
export interface LockClient extends AsyncDisposable {
  /**
   * Waits for the lock, runs `work` under it, releases, and answers what `work` answered.
   * Rejects with `OWNERSHIP_LOST` when the hold was lost while `work` ran, whatever `work` did (its own error is the
   * `cause`); it waits for `work` to end first, so watch `ownership.signal` there. Rejects with the error of `work`
   * otherwise; with `REENTRANT` when called inside the `work` of the same name; with `TIMEOUT`, the signal's
   * reason, `UNAVAILABLE`, `SESSION_LOST` when the turn never came.
   */
  run<T>(
    name: string,
    work: (ownership: Ownership) => T | PromiseLike<T>,
    options?: AcquireOptions,
  ): Promise<Awaited<T>>;
  /** Waits for the lock; release it with `release()` or `await using`. Rejects as `run` does. */
  acquire(name: string, options?: AcquireOptions): Promise<Ownership>;
  /** The lock if nobody is ahead, `undefined` if somebody is: busy is an answer, not an error. Leaves nothing behind. */
  tryAcquire(name: string, options?: Omit<AcquireOptions, 'timeoutMs'>): Promise<Ownership | undefined>;
  /**
   * A claim as a stream. Subscribing joins the queue; unsubscribing leaves it or releases, also while the join is on its
   * way. Never errors; completes after `ended`. Throws `INVALID_ARGUMENT` at the call, not on the stream.
   */
  claim(name: string, options?: AcquireOptions): Observable<ClaimState>;
  /** A queue as everybody can see it: the present state at once, then every change. Shared; never errors. */
  watch(name: string): Observable<QueueState>;
  /** The session's state, the present one first. */
  readonly session$: Observable<SessionState>;
  /**
   * Ends everything: waiters reject with `CLOSED`, ownerships are revoked (`client-closed`) and their entries removed,
   * the backend is closed. Afterwards every call rejects with `CLOSED`, and the process may exit.
   */
  close(): Promise<void>;
}
