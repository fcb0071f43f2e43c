import type { Clock } from './clock.ts';

/** Settings of a lock client. */
export interface LockClientOptions {
  /**
   * How long the server keeps this client's entries after it has last heard of it, in milliseconds. Default: that of the
   * backend, 10,000 on etcd and 15,000 on ZooKeeper with the usual settings.
   * A crashed holder delays the queue by at most this plus the server's expiry granularity. The server may grant more
   * (etcd rounds up to whole seconds and to its own minimum); what it granted is what counts.
   */
  readonly ttlMs?: number;
  /** Pace of the heartbeat in milliseconds. Default: a quarter of the granted TTL, so that three beats may fail. */
  readonly renewEveryMs?: number;
  /** Reserve for our own lateness at the end of a hold, in milliseconds. Default: 2 % of the TTL, at least 200. */
  readonly marginMs?: number;
  /**
   * How long a new holder waits when the one before did not end by a release (crash, lost session, removed by an operator), in
   * milliseconds. For work on resources that cannot check a fencing token: a holder that was cut off or paused may still have
   * effects under way. Costs one write per hold. Counts only holds of clients that set it too, so all clients of a name should;
   * `tryAcquire` waits for it as well. 2,500 covers what was measured for clients without proven heartbeats. Default 0: off.
   * What Chubby calls the lock-delay.
   */
  readonly uncleanHandoverDelayMs?: number;
  /** How long the first connection may take before a call fails with `UNAVAILABLE`, in milliseconds. Default 5,000. */
  readonly connectTimeoutMs?: number;
  /** Who this is, shown to everybody who looks at the queue. Default `host:pid`. */
  readonly owner?: string;
  /** For tests: the time that counts. Default: the machine's monotonic clock, suspension included. */
  readonly clock?: Clock;
}

/** Settings of one acquisition. */
export interface AcquireOptions {
  /** Ends the *wait*: the call rejects at once with the signal's reason, and the entry is withdrawn. Ignored once held. */
  readonly signal?: AbortSignal;
  /** Longest wait in milliseconds, then `TIMEOUT`. 0 waits for nothing but the server's answer. Default: for ever. */
  readonly timeoutMs?: number;
  /**
   * Time that the work needs, in milliseconds: the hold begins only with at least so much of it proven, after another
   * heartbeat if need be, and the call rejects with `NOT_ENOUGH_TIME` if a heartbeat proves less. Less than the TTL less 1 %
   * and the margin; on ZooKeeper less than three quarters of it. Default 0.
   */
  readonly needsMs?: number;
  /** Overrides the client's label for this entry. */
  readonly owner?: string;
  /** Shown with the entry, for people; at most about 900 bytes together with the owner. */
  readonly metadata?: Readonly<Record<string, string>>;
}
