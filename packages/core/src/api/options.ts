import type { Observable } from 'rxjs';
import type { Clock } from '../base/clock.ts';
import type { SharedOwnership } from './hold-api.ts';
import type { QueuePosition } from './position-api.ts';
import type { HandoverRequestOptions } from './handover-api.ts';

/** Settings of a lock client. */
export interface LockClientOptions {
  /**
   * Time to live of the session, in milliseconds: how long the server keeps this client's entries without a heartbeat. A crashed holder delays the
   * queue by at most this plus the time in which the server detects that a session has expired. The server may grant more, and what it granted
   * counts: etcd rounds up to whole seconds and to its own minimum. Default: that of the backend, 10,000 on etcd and 15,000 on ZooKeeper with usual
   * settings.
   */
  readonly ttlMs?: number;
  /**
   * Longest pause between two heartbeats, in milliseconds. Each pause is shortened by up to 20 % at random, so that heartbeats of many clients spread
   * out. Default: a quarter of the granted TTL, so that three heartbeats in a row may fail.
   */
  readonly heartbeatIntervalMs?: number;
  /**
   * Safety margin at the end of a hold, in milliseconds: a hold counts as lost this much before the server may grant the lock to the next
   * waiter. It covers late timers of this process. Default: 2 % of the TTL, at least 200.
   */
  readonly safetyMarginMs?: number;
  /**
   * How long a new holder waits when the previous hold did not end by a release (a crash, a lost session, an operator's removal), in milliseconds.
   * Chubby calls this the lock-delay. Use it for resources that cannot check a fencing token: effects of a holder that was cut off may still arrive.
   * It costs one write for each hold. A new holder notices only earlier holds of clients that set this option, so set it in all clients of a name.
   * `tryAcquire` waits too. In measurements with clients without heartbeat proof, no two holds overlapped for longer than 2,500 ms. Default 0: off.
   */
  readonly lockDelayMs?: number;
  /**
   * Longest time in milliseconds for which the event loop of this process may be blocked without the loss of its locks: 0, or from 1,000 to
   * 3,600,000. While the main thread sends no heartbeats, a worker thread sends them over its own connection. While the loop is blocked, `signal`
   * cannot abort and handover requests get no response; `held` is right at once after it. A process that is blocked for longer loses its locks, at
   * most this time and two TTLs after the block began. So does a process that is frozen as a whole, because its threads stop too. It requires the
   * etcd backend with options that can be passed to a thread, so without functions; otherwise the creation of the client throws `INVALID_ARGUMENT`.
   * Default 0: only the main thread sends heartbeats.
   */
  readonly maxBlockedMs?: number;

  /**
   * How many holds of each name to record beside its queue, 0 to 100; `LockClient.recordedHolds` shows them, also after all clients have ended. At
   * most 4,096 bytes for each name, which is about 35 holds. A hold costs two reads and two writes, or one read and one write if it is shorter than
   * 20 ms. They run in the background: no hold waits for them or fails because of them. The record of a name stays in the store until
   * `LockClient.forgetHolds`, so set this for a limited number of names. Default 0: off.
   */
  readonly recordHolds?: number;
  /** How long the first connection may take before a call rejects with `UNAVAILABLE`, in milliseconds. Default 5,000. */
  readonly connectTimeoutMs?: number;
  /**
   * Resumes the session of an earlier process. The value is the text that `LockClient.exportSession` returned in that process, which must be gone or
   * have called `abandon`. If it still runs, it loses the session at its next heartbeat, and until then both processes hold the locks. Claim each
   * entry by its `id` within one TTL. After that, entries that no claim has taken over are removed from their queues, because a release of the
   * earlier process may have been lost. If the session has ended, the client opens a new one.
   */
  readonly resume?: string;
  /** Text that identifies this client, shown to every client that reads the queue. Default `host:pid`. */
  readonly owner?: string;
  /** Source of time, for tests. Default: the machine's monotonic clock, which also counts while the machine is suspended. */
  readonly clock?: Clock;
}

/** Settings of a claim: of one entry in a queue, from its creation to its removal. */
export interface ClaimOptions {
  /**
   * Ends the wait: the call rejects with the signal's reason, and the entry is removed. It has no effect once the lock is held; a loss aborts
   * `ownership.signal` instead. Use this or `timeoutMs` to give up a wait, never `Promise.race([acquire(name), timer])`: the entry would stay
   * in the queue, and the lock would be held for ever once it is granted.
   */
  readonly signal?: AbortSignal;
  /**
   * Longest wait, in milliseconds. Then the call rejects with `TIMEOUT`, or with `UNAVAILABLE` if the store could not be read. 0 waits only for the
   * server's answer to one attempt. Default: no limit.
   */
  readonly timeoutMs?: number;
  /**
   * Time that the work under the lock needs, in milliseconds. The hold begins only when heartbeats prove it for at least this time; the client sends
   * one more heartbeat if needed. If that proves less, the call rejects with `NOT_ENOUGH_TIME`. A value that no heartbeat can prove is refused with
   * `INVALID_ARGUMENT`. The largest value is 99 % of the TTL less the safety margin; on ZooKeeper also less `heartbeatIntervalMs`. Default 0.
   */
  readonly minRemainingMs?: number;
  /** Text that identifies the client of this entry, instead of the client's own `owner`. */
  readonly owner?: string;
  /** Details shown with the entry to every client that observes the queue. Never put secrets here. At most 1,024 bytes of JSON together with the owner. */
  readonly metadata?: Readonly<Record<string, string>>;
  /**
   * `exclusive` (a write lock, or simply a lock) or `shared` (a read lock). Shared entries next to each other hold at the same time, and none
   * of them passes a waiting exclusive entry. Default `exclusive`.
   */
  readonly mode?: 'exclusive' | 'shared';
  /**
   * Number of permits of a semaphore. All clients of a name must use the same number: a claim that finds another number or a shared entry
   * ahead rejects with `LIMIT_MISMATCH`. Default 1.
   *
   * A stream of numbers changes the limit until the hold begins. Use such a name for this semaphore only, since its claims are not checked against
   * the limits of entries ahead. Until all clients have received a new number, an entry may be granted before an entry ahead of it, which then has a
   * smaller fencing token.
   */
  // eslint-disable-next-line rxjs-x/finnish -- a number in most cases, and a stream only for a limit that changes
  readonly limit?: number | Observable<number>;
  /**
   * Number of permits to take at once, at most `limit`. While the claim waits for them, claims for fewer permits do not overtake it. Take all permits
   * that you need in one claim: a call chain that holds permits and waits for more may deadlock with others that do the same. Default 1.
   */
  readonly permits?: number;
  /**
   * The holds of the call chain that makes this claim, for the detection of deadlocks. Default: what the call chain holds through `run`, of all
   * clients in this process.
   */
  readonly holding?: readonly SharedOwnership[];
  /**
   * Joins only if afterwards at most this many waiters are in the queue, including this claim. Otherwise rejects with `QUEUE_FULL`. Holders do not
   * count. On etcd a released entry counts until its removal commits, one round trip later. This option, `maxExpectedWaitMs` and `steal` read the
   * queue. If the store refuses that, the claim rejects with the store's error code.
   */
  readonly maxWaiters?: number;
  /**
   * Joins only if the expected wait is at most this long, in milliseconds; otherwise it rejects with `WAIT_TOO_LONG`. It joins if no wait can
   * be estimated.
   */
  readonly maxExpectedWaitMs?: number;
  /**
   * Takes the lock from its holder, who loses it with the reason `entry-removed` and the text `reason`, of at most 200 characters. Waiters ahead of
   * the claim join again behind it; waiters of other libraries are removed. In a semaphore, the claim takes as many permits as it needs, from the
   * newest holders first. The previous holder may not have noticed the loss yet, so send the fencing token with every write.
   */
  readonly steal?: { readonly reason: string };
  /** Requests a release from the holder, while this claim waits. The holder's response appears in the state `queued`. */
  readonly request?: HandoverRequestOptions;
  /**
   * The `id` of an entry in a resumed session: the claim takes over that entry and its position. Its mode is that of the entry, and another one
   * is refused with `INVALID_ARGUMENT`. If the earlier process ended during a `downgrade()`, the entry has either mode: request `shared`, and
   * then exclusive if that is refused.
   */
  readonly id?: string;
  /**
   * Expected duration of the hold, in milliseconds. Other clients use it to estimate their wait, until this client has held the name once.
   * `claimWithPosition` and `onPosition` also assume this duration for entries ahead whose clients announce none. Default: unknown.
   */
  readonly typicalHoldMs?: number;
  /** The exact text that the entry stores in place of owner and metadata, for formats that other programs read. At most 1,024 bytes. */
  readonly value?: string;
}

/** Options with which several clients may hold at the same time. A claim with one of these options gets a `SharedOwnership`. */
export type SharedOptions =
  | { readonly mode: 'shared' }
  // eslint-disable-next-line rxjs-x/finnish -- as in ClaimOptions
  | { readonly limit: number | Observable<number> };

/** Settings that stop the work of a `run`, besides the loss of its hold. */
export interface WorkOptions {
  /**
   * Stops the whole call. During the wait it rejects at once with the signal's reason. During the work it aborts the `stop` signal of the work
   * and waits until the work has ended. Use it for a shutdown, or for a request whose client has disconnected.
   */
  readonly stop?: AbortSignal;
  /**
   * Longest time for the work, in milliseconds. Then the `stop` signal of the work aborts, and `run` waits until the work has ended: a lock is
   * never released under work that still runs. If the work throws after that, `run` rejects with `WORK_TIMEOUT`; a value that it returns still
   * counts. Default: no limit.
   */
  readonly workTimeoutMs?: number;
}

/** Settings of one `run`: `signal` and `timeoutMs` limit the wait, `workTimeoutMs` limits the work, `stop` ends whichever of the two is in progress. */
export interface RunOptions extends AcquireOptions, WorkOptions {}

/** Settings of one acquisition. */
export interface AcquireOptions extends ClaimOptions {
  /**
   * Lets this call enter a lock again that its call chain already holds through a `run` with the same option. Without this option the call rejects
   * with `REENTRANT`. If several calls are made from within the same hold at once, for instance under `Promise.all`, they enter one after another. Default
   * `false`.
   */
  readonly reentrant?: boolean;
  /** Enters the lock of this ownership again, from any call chain. Such calls enter one after another. The name must be that of the ownership. */
  readonly reenter?: SharedOwnership;
  /**
   * Called while the claim waits: with its position once the queue was read, then after each change, at most four times a second. It is not
   * called for a claim that need not wait. An error that it throws ends the wait. It costs as much as `LockClient.claimWithPosition`.
   */
  readonly onPosition?: (place: QueuePosition) => void;
}
