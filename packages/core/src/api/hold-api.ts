import type { Observable } from 'rxjs';
import type { QueueEntry } from './queue-api.ts';

/**
 * Of one hold, of a single lock or of several. Its methods work by themselves too (`const { throwIfLost, signal } = ownership`); `held` and
 * `remainingMs` are of the moment in which they are read, so a copy of them is soon wrong.
 */
export interface Hold extends AsyncDisposable {
  /**
   * For the work; what ends a wait is the `signal` of `ClaimOptions`.
   * Aborts when the ownership is lost (never when it is released), with a `QueueLockError` `OWNERSHIP_LOST` as
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
   * `NOT_ENOUGH_TIME` when less than `minRemainingMs` of the hold is proven, for instance the timeout of the request that follows.
   * Call it in the same synchronous block as the send: between a check and an `await`'s end a process may stand still.
   */
  readonly throwIfLost: (minRemainingMs?: number) => void;
  /**
   * Gives the lock up. Settles when the server has confirmed it or the session has surely ended; a lost connection makes
   * it take longer, never fail. Calling it again answers the same. After a loss it does nothing.
   */
  readonly release: () => Promise<void>;
}

/**
 * The right to act together with others, for as long as `held` says so: of a reader, or permits of a semaphore. It is no `Ownership`, so that
 * the compiler keeps it from what is for one holder alone, such as a fence.
 */
export interface SharedOwnership extends Hold {
  readonly name: string;
  /** Of the entry; see `QueueEntry.id`. */
  readonly id: string;
  /**
   * The entry's key or path as the store holds it, for guards that compare it (`@queuelock/fencing`). Read it while the lock is held: from then on
   * the next hold begins after this entry has left the store. On etcd the first read costs a hand-off within one client its shortcut.
   * @throws {QueueLockError} `OWNERSHIP_LOST` where it is read for the first time after the release, and the next holder holds already (etcd)
   */
  readonly key: string;
  /** The server's order of the entry within its queue. */
  readonly order: bigint;
  /**
   * Fencing token: larger than that of every earlier holder of this name, for ever. Send it with every protected write.
   * Not where a limit that changes meets other limits: who came earlier may be let in after who came later, with a smaller one.
   */
  readonly token: bigint;
  /**
   * The other token that programs in Go fence with, on etcd only: the revision of the answer that showed that the turn had come
   * (`Mutex.Header().Revision`, `ETCD_LOCK_REV` of `etcdctl lock`), or a smaller one where the holder before, of the same session, handed over without
   * an answer; where `token` is the create revision (`IsOwner`, `Election.Rev`). Each grows with every grant, but one is no measure for the other: a resource takes one kind from everybody.
   */
  readonly grantToken: bigint | undefined;
  /** Whether it is held together with other readers. */
  readonly shared: boolean;
  /** Of how many permits there are it has `permits`: 1 of 1 for a lock. With a limit that changes: as it was when it joined. */
  readonly limit: number;
  readonly permits: number;
  /** How often the call chain has entered this hold: 1, and one more for each `reentrant` or `reenter` around it. */
  readonly depth: number;
  /** Replaces what everybody sees of the entry. Repeated until it is certain; rejects with `OWNERSHIP_LOST` after a loss or a release. */
  readonly update: (
    label: { readonly metadata: Readonly<Record<string, string>> } | { readonly value: string },
  ) => Promise<void>;
  /**
   * Requests of those who wait behind, each once, as long as somebody subscribes; completes when the hold ends. Watches the whole
   * queue, so it costs an event for every change of it.
   */
  readonly requests$: Observable<HandoverRequest>;
}

/**
 * The right to act alone, for as long as `held` says so. What the compiler does not know of, a `mode` or `limit` in a variable for instance,
 * has this type too: `shared` and `limit` tell.
 */
export interface Ownership extends SharedOwnership {
  /**
   * Turns the write lock into a read lock at the same place: readers behind it are let in, writers are not. The token stays.
   * Repeated until it is certain; rejects with `OWNERSHIP_LOST` after a loss or a release. Does nothing when it is shared.
   * (Curator's downgrade; there is no way back, since two readers who both wait to write would wait for ever.)
   */
  readonly downgrade: () => Promise<void>;
}

/** What a waiter asks of the holder. Whoever ignores it does nothing. */
export interface HandoverRequest {
  /** The entry that asks. */
  readonly from: QueueEntry;
  readonly reason: string;
  readonly withinMs: number;
  /** Says yes, and releases: the next in line follows, whoever it is. Call it when the work is at a point where it can stop. */
  readonly yieldToQueue: () => Promise<void>;
  /**
   * Says yes, and releases straight to the one who asked: those in between join again behind it (waiters of other kinds are turned
   * away). As an eviction it needs a backend that can evict.
   */
  readonly yieldToRequester: () => Promise<void>;
  /** Says no. */
  readonly decline: (reason: string) => Promise<void>;
}

/** What became of a request. `ignored`: no answer within the time. */
export interface HandoverAnswer {
  readonly answer: 'yields' | 'declined' | 'ignored';
  readonly reason?: string;
}

/** The right to act on several names at once. Held if all are; lost if one is. */
export interface MultiOwnership extends Hold {
  readonly names: readonly string[];
  /** The single ownership, for its token and its key. */
  readonly of: (name: string) => Ownership;
}
