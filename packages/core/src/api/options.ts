import type { Observable } from 'rxjs';
import type { Clock } from '../base/clock.ts';
import type { SharedOwnership } from './hold-api.ts';
import type { QueuePosition } from './position-api.ts';

/** Settings of a lock client. */
export interface LockClientOptions {
  /**
   * How long the server keeps this client's entries after it has last heard of it, in milliseconds. Default: that of the
   * backend, 10,000 on etcd and 15,000 on ZooKeeper with the usual settings.
   * A crashed holder delays the queue by at most this plus the server's expiry granularity. The server may grant more
   * (etcd rounds up to whole seconds and to its own minimum); what it granted is what counts.
   */
  readonly ttlMs?: number;
  /**
   * Longest pause between heartbeats in milliseconds; each is up to a fifth shorter, so that clients do not beat in step. Default: a
   * quarter of the granted TTL, so that three beats may fail.
   */
  readonly heartbeatIntervalMs?: number;
  /** Reserve for our own lateness at the end of a hold, in milliseconds. Default: 2 % of the TTL, at least 200. */
  readonly safetyMarginMs?: number;
  /**
   * How long a new holder waits when the one before did not end by a release (crash, lost session, removed by an operator), in
   * milliseconds. For work on resources that cannot check a fencing token: a holder that was cut off or paused may still have
   * effects under way. Costs one write per hold. Counts only holds of clients that set it too, so all clients of a name should;
   * `tryAcquire` waits for it as well. 2,500 covers what was measured for clients without proven heartbeats. Default 0: off.
   * What Chubby calls the lock-delay.
   */
  readonly lockDelayMs?: number;
  /** How long the first connection may take before a call fails with `UNAVAILABLE`, in milliseconds. Default 5,000. */
  readonly connectTimeoutMs?: number;
  /**
   * Goes on with the session of an earlier process, from `LockClient.exportSession`; that process must be gone or have called `abandon`:
   * one that still runs loses the session at its next heartbeat, and until then both hold what it holds. A session that has ended is
   * replaced by a new one. Claim the entries that are to go on by their `id` within one TTL: after that, what no claim has asked for is
   * removed from its queue, as a release of the earlier process may have been lost.
   */
  readonly resume?: string;
  /** Who this is, shown to everybody who looks at the queue. Default `host:pid`. */
  readonly owner?: string;
  /** For tests: the time that counts. Default: the machine's monotonic clock, suspension included. */
  readonly clock?: Clock;
}

/** A polite request to whoever holds, made by a waiter; the holder sees it in `Ownership.requests$`. */
export interface HandoverRequestOptions {
  /** For the holder to decide by; at most 200 characters. */
  readonly reason: string;
  /** How long an answer is of use, in milliseconds; after that the request counts as ignored. */
  readonly withinMs: number;
}

/** What a claim is made with. */
export interface ClaimOptions {
  /**
   * Ends the *wait*: the call rejects at once with the signal's reason, and the entry is withdrawn. Ignored once held: it does not limit
   * the work, and a loss is told by another signal, `ownership.signal`. Give up a wait by this or by `timeoutMs`, never by
   * `Promise.race([acquire(name), timer])`: the entry would stay in line, and the lock be held for ever once its turn has come.
   */
  readonly signal?: AbortSignal;
  /** Longest wait in milliseconds, then `TIMEOUT`, or `UNAVAILABLE` if the store could not be asked whose turn it is. 0 waits for nothing but the server's answer, to one attempt. Default: for ever. */
  readonly timeoutMs?: number;
  /**
   * Time that the work needs, in milliseconds: the hold begins only with at least so much of it proven, after another
   * heartbeat if need be, and the call rejects with `NOT_ENOUGH_TIME` if a heartbeat proves less. At most what a heartbeat proves at
   * best, or `INVALID_ARGUMENT`: the TTL less 1 % and the margin; on ZooKeeper, where it proves the one before, less `heartbeatIntervalMs` besides
   * (a quarter of the TTL). Default 0.
   */
  readonly minRemainingMs?: number;
  /** Overrides the client's label for this entry. */
  readonly owner?: string;
  /** Shown with the entry, for people: never put secrets here. At most 1,024 bytes of JSON together with the owner. */
  readonly metadata?: Readonly<Record<string, string>>;
  /**
   * `shared` (a read lock): held together with other shared ones. Readers that stand behind each other are let in together, and
   * none passes a writer that waits. Default `exclusive` (a write lock, or just a lock).
   */
  readonly mode?: 'exclusive' | 'shared';
  /**
   * A semaphore: so many permits there are, and everybody who uses the name says the same number; whoever sees another one
   * ahead, or a reader, is refused with `LIMIT_MISMATCH`. A stream of numbers follows a limit that changes, until the hold begins. With
   * it goes a name of its own: what others ahead say is not compared then, not even that they have the name as a lock. And while a new
   * number is on its way, one who has it already may be let in before one ahead, whose token is smaller though it comes later.
   * Default 1.
   */
  // eslint-disable-next-line rxjs-x/finnish -- a number, but for those who change it
  readonly limit?: number | Observable<number>;
  /**
   * Permits to take at once, at most `limit`. First come, first served also here: nobody smaller passes. Default 1.
   * Who needs several takes them at once: a call chain that holds some and waits for more may wait for ever, when others do the same, or
   * when somebody ahead needs those that it holds.
   */
  readonly permits?: number;
  /**
   * What the call chain that makes this claim holds meanwhile, for the detection of deadlocks. Default: what it holds through
   * `run`, also of other clients in this process.
   */
  readonly holding?: readonly SharedOwnership[];
  /**
   * Joins only if at most so many wait afterwards, itself included, else `QUEUE_FULL`. Those who hold do not count. On etcd an entry that was
   * released counts until its removal commits, a round trip later. As the next two it looks at the queue: where that is refused, the claim
   * fails with the same code.
   */
  readonly maxWaiters?: number;
  /** Joins only if the wait is expected to be at most so many milliseconds, else `WAIT_TOO_LONG`; joins if nothing is known. */
  readonly maxExpectedWaitMs?: number;
  /**
   * Takes the lock from whoever holds it: their ownership is lost (`entry-removed`, with this reason), and those who wait ahead
   * join again behind. Of permits it takes as many as it needs, from those who joined last. There is no proof that the last holder has noticed: send the fencing token with every write.
   * Waiters of other kinds ahead are turned away. At most 200 characters.
   */
  readonly steal?: { readonly reason: string };
  /** Asks the holder to make way, while waiting in line; the answer is part of the state `queued`. */
  readonly request?: HandoverRequestOptions;
  /** The `id` of an entry that the resumed session has: the claim takes over its place instead of a new one. */
  readonly id?: string;
  /**
   * How long it will hold, in milliseconds, as far as its caller knows: announced to others until this client has held the name itself, and
   * assumed of those ahead who announce nothing, where `claimWithPosition` and `onPosition` tell an expected wait. Default: unknown.
   */
  readonly typicalHoldMs?: number;
  /** What the entry stores, as it is, in place of owner and metadata: for formats that other programs read. At most 1,024 bytes. */
  readonly value?: string;
}

/** What lets others hold at the same time: with either, what is held is a `SharedOwnership`. */
export type SharedOptions =
  | { readonly mode: 'shared' }
  // eslint-disable-next-line rxjs-x/finnish -- as in ClaimOptions
  | { readonly limit: number | Observable<number> };

/** What tells a work to stop, besides the loss of its hold. */
export interface WorkOptions {
  /**
   * Ends the whole call: the wait at once, with the signal's reason; later it tells the work to stop, by the signal that the work is given, and
   * waits for it. No work begins after it. For the caller's shutdown, or for a client that hangs up.
   */
  readonly stop?: AbortSignal;
  /**
   * Longest time for the work in milliseconds, then it is told to stop, and waited for: the lock is never given up under a work that goes on.
   * If it throws after that, the call rejects with `WORK_TIMEOUT`; what it returns counts all the same. Default: no limit.
   */
  readonly workTimeoutMs?: number;
}

/** Settings of one `run`: `signal` and `timeoutMs` are for the wait, `workTimeoutMs` for the work, `stop` for both. */
export interface RunOptions extends AcquireOptions, WorkOptions {}

/** Settings of one acquisition. */
export interface AcquireOptions extends ClaimOptions {
  /**
   * Enters again what this call chain holds through `run` with the same option, instead of refusing with `REENTRANT`. Those who
   * enter again from the same level, say under `Promise.all`, do so one after the other. Default false.
   */
  readonly reentrant?: boolean;
  /** Enters again what this handle holds, from whatever call chain; one after the other likewise. The name must be the same. */
  readonly reenter?: SharedOwnership;
  /**
   * Called while it waits in line: with its place as soon as the queue was seen, and when that changes, at most four times a second. Never for
   * one that need not wait. What it throws ends the wait. Costs what `LockClient.claimWithPosition` does.
   */
  readonly onPosition?: (place: QueuePosition) => void;
}
