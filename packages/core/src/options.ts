import type { Clock } from './clock.ts';

/** Settings of a lock client. */
export interface LockClientOptions {
  /**
   * How long the server keeps this client's entries after it has last heard of it, in milliseconds. Default 10,000.
   * A crashed holder delays the queue by at most this plus the server's expiry granularity. The server may grant more
   * (etcd rounds up to whole seconds and to its own minimum); what it granted is what counts.
   */
  readonly ttlMs?: number;
  /** Pace of the heartbeat in milliseconds. Default: a quarter of the granted TTL, so that three beats may fail. */
  readonly renewEveryMs?: number;
  /** Reserve for our own lateness at the end of a hold, in milliseconds. Default: 2 % of the TTL, at least 200. */
  readonly marginMs?: number;
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
  /** Overrides the client's label for this entry. */
  readonly owner?: string;
  /** Shown with the entry, for people; at most about 900 bytes together with the owner. */
  readonly metadata?: Readonly<Record<string, string>>;
}
