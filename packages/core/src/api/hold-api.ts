// Declares `AsyncDisposable` for programs whose TypeScript option `lib` lacks it, such as browser programs
// with a `lib` up to ES2024.
/// <reference lib="esnext.disposable" preserve="true" />
import type { Observable } from 'rxjs';
import type { QueueEntry } from './queue-api.ts';

/**
 * A hold of one lock or of several. Its methods work without their object (`const { throwIfLost, signal } = ownership`). `held` and `remainingMs` are
 * computed at each read, so do not store their values.
 */
export interface Hold extends AsyncDisposable {
  /**
   * Aborts when the hold is lost, never when it is released. Its reason is a `QueueLockError` with code `OWNERSHIP_LOST`. It aborts before the server
   * may grant the lock to the next waiter. Each read of `aborted` compares the proven time with the clock, so it is right even when timers are late,
   * as after a blocked event loop. To give up a wait, use the `signal` of `ClaimOptions`.
   */
  readonly signal: AbortSignal;
  /** Whether the lock is held now, by the clock. */
  readonly held: boolean;
  /** Milliseconds for which the hold is proven from now on; 0 when it is not held. Each heartbeat extends it. */
  readonly remainingMs: number;
  /**
   * Checks the hold directly before a request that has an effect outside of this process. Call it in the same synchronous block that sends the request,
   * because a process may be paused during an `await`.
   * @param minRemainingMs for how many milliseconds from now the hold must be proven, for instance the timeout of the request that follows. Default 0
   * @throws {QueueLockError} `OWNERSHIP_LOST` when the lock is not held any more, `NOT_ENOUGH_TIME` when the hold is proven for less time
   */
  readonly throwIfLost: (minRemainingMs?: number) => void;
  /**
   * Releases the lock. Resolves when the server has confirmed the removal of the entry, or when the session has certainly ended. It never
   * rejects; a lost connection only delays it. Further calls return the same outcome. After a loss it does nothing.
   */
  readonly release: () => Promise<void>;
}

/**
 * A hold that other clients may have at the same time: of a read lock, or of permits of a semaphore. It has its own type. So the compiler rejects it
 * where a single holder is required, for example by a fence of `@queuelock/fencing`.
 */
export interface SharedOwnership extends Hold {
  readonly name: string;
  /** Id of the entry; see `QueueEntry.id`. */
  readonly id: string;
  /**
   * The entry's key or path in the store, for guards that compare it (`@queuelock/fencing`). Read it while the lock is held: from then on the
   * next hold begins only after this entry has left the store. On etcd this disables the hand-off to another claim of the same client before the
   * removal is confirmed.
   * @throws {QueueLockError} `OWNERSHIP_LOST` on etcd, if it is read for the first time after the release and the next holder already holds
   */
  readonly key: string;
  /** The number that the server gave the entry: smaller is earlier in its queue. */
  readonly order: bigint;
  /**
   * Fencing token, larger than that of every earlier holder of this name. Send it with every protected write. If clients use different values of
   * `limit`, tokens of later holders may be smaller.
   */
  readonly token: bigint;
  /**
   * On etcd only: the fencing token that Go programs use, `Mutex.Header().Revision` or `ETCD_LOCK_REV` of `etcdctl lock`. It is the revision of the
   * response that reported the grant. After a hand-off within one session, no response reported the grant, and `grantToken` is a smaller revision.
   * `token` is instead the revision at which the entry was created, which Go compares in `Mutex.IsOwner` and returns from `Election.Rev`. Both grow
   * with every grant, but they cannot be compared with each other. So all clients that write to a protected resource must send the same one of the
   * two.
   */
  readonly grantToken: bigint | undefined;
  /** Whether the hold is that of a read lock. */
  readonly shared: boolean;
  /** Number of permits that the name has; 1 for a lock. If the limit changes, it is the number at the time when the entry joined. */
  readonly limit: number;
  /** Number of permits that this hold takes; 1 for a lock. */
  readonly permits: number;
  /** How many times the call chain has entered this hold: 1, plus one for each enclosing `reentrant` or `reenter`. */
  readonly depth: number;
  /**
   * Replaces the metadata or the value that other clients read. Retries until the outcome is certain.
   * @throws {QueueLockError} `OWNERSHIP_LOST` after a loss or a release
   */
  readonly update: (
    label: { readonly metadata: Readonly<Record<string, string>> } | { readonly value: string },
  ) => Promise<void>;
  /**
   * Emits each request of a waiter once, and completes when the hold ends. While it has a subscriber, the client watches the whole queue, so it
   * receives every change of the queue.
   */
  readonly requests$: Observable<HandoverRequest>;
}

/**
 * A hold that no other client has at the same time. If `mode` or `limit` come from variables, the compiler uses this type even for a hold that is
 * shared. In that case, check `shared` and `limit` at run time.
 */
export interface Ownership extends SharedOwnership {
  /**
   * Converts the write lock to a read lock at the same position. Readers behind it are granted, writers are not. The token stays the same. Retries
   * until the outcome is certain; does nothing when the lock is shared. Curator has the same operation. The opposite conversion does not exist,
   * because two readers that both wait for the write lock would wait forever.
   * @throws {QueueLockError} `OWNERSHIP_LOST` after a loss or a release
   */
  readonly downgrade: () => Promise<void>;
}

/** A waiter's request that the holder release soon. A holder may ignore it. */
export interface HandoverRequest {
  /** The entry of the waiter. */
  readonly from: QueueEntry;
  readonly reason: string;
  /** How long the waiter waits for a response, in milliseconds. */
  readonly withinMs: number;
  /** Accepts the request and releases the lock, so that the next waiter in the queue holds. Call it when the work under the lock can stop. */
  readonly yieldToQueue: () => Promise<void>;
  /**
   * Accepts the request and passes the lock to the requesting waiter. Waiters between the holder and that waiter join again behind it; entries of
   * other libraries between them are removed.
   * @throws {QueueLockError} `INVALID_ARGUMENT` on a backend that cannot evict, `OWNERSHIP_LOST` if the hold ends before
   */
  readonly yieldToRequester: () => Promise<void>;
  /** Refuses the request, with a reason for the waiter. */
  readonly decline: (reason: string) => Promise<void>;
}

/** A hold of several names. It is held while all of them are, and lost when one of them is lost. */
export interface MultiOwnership extends Hold {
  readonly names: readonly string[];
  /** Returns the ownership of one of the names, for its token and key. */
  readonly of: (name: string) => Ownership;
}
