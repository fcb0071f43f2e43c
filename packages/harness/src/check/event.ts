/**
 * Events of a run, as its processes record them: one JSON object per line, and one append-only file for each process.
 *
 * Stamps are nanoseconds of the machine's monotonic clock (`process.hrtime`), the same for all its processes, as decimal strings.
 * Other numbers that may be large are decimal strings too.
 */
interface Stamped {
  readonly t: string;
  /** Name of the process that records the event, such as `worker-3` or `harness`. */
  readonly who: string;
}

/** Identifies an attempt: one try of a worker to hold the lock of one queue. */
interface OfAttempt extends Stamped {
  readonly queue: string;
  /** Number of the attempt among the worker's attempts on all queues, from 1. */
  readonly n: number;
}

/** An event of a worker's process, such as its start or its end. */
export type LifeEvent = Stamped &
  (
    | {
        readonly ev: 'started';
        readonly pid: number;
        readonly ttlMs: number;
        readonly safetyMarginMs: number;
      }
    /**
     * The worker has closed its client, and its process is about to exit by itself. `loopDelayMs` is the longest delay of its
     * event loop.
     */
    | { readonly ev: 'closed'; readonly loopDelayMs: number }
    /** The worker had an uncaught exception or an unhandled rejection. */
    | { readonly ev: 'crashed'; readonly message: string }
    /** The test blocked the worker's event loop from `t` on, for `ms` milliseconds. */
    | { readonly ev: 'stalled'; readonly ms: number }
    /**
     * A heartbeat was confirmed at `t`. The client sent it at `sentAt`. It proves the session for `provenMs` milliseconds from `sentAt` on, minus 1 %
     * and the safety margin (see `deadlineOf` of the core). Opening a session counts as a heartbeat.
     */
    | {
        readonly ev: 'beat';
        readonly session: string;
        readonly sentAt: string;
        readonly provenMs: number;
      }
    /** The client was notified that its session has ended. */
    | { readonly ev: 'session-lost' }
    /** The size of the heap right after a full garbage collection, and the number of attempts that had ended by then. */
    | { readonly ev: 'memory'; readonly heapBytes: number; readonly cycles: number }
  );

/** Options of a claim. By default it is an exclusive lock of one name. */
export interface Terms {
  /** Whether the claim is shared, as that of a reader. */
  readonly shared?: true;
  /**
   * `limit`: the number of permits of the semaphore. `permits`: how many of them the claim takes. Default: 1
   * each.
   */
  readonly limit?: number;
  readonly permits?: number;
  /** Whether a leader election made the claim. */
  readonly leader?: true;
}

/** An event of one attempt of a worker to hold a lock. */
export type AttemptEvent = OfAttempt &
  /** The worker has requested the lock. */
  (
    | {
        readonly ev: 'enqueue';
        readonly session?: string;
        readonly terms?: Terms;
        /** For a claim of several names: the numbers of the attempts on all of these names, including this one. */
        readonly together?: readonly number[];
      }
    /**
     * The worker has received the data of its entry in the queue. If the entry is admitted at once, this
     * event is recorded just before `acquired`.
     */
    | {
        readonly ev: 'queued';
        readonly order: string;
        readonly token: string;
        readonly key: string;
        readonly session: string;
      }
    | {
        readonly ev: 'acquired';
        readonly token: string;
        readonly order: string;
        readonly remainingMs: number;
      }
    | { readonly ev: 'doubt' }
    | { readonly ev: 'sure' }
    /** The worker has read the property `held` of its hold. `t` is the time before the read. */
    | { readonly ev: 'look'; readonly held: boolean }
    /**
     * A write to a resource under the lock. `t` is the time before it was sent, and `believed` the value of `held` then. `number`
     * counts the writes of the hold. The outcome is `unknown` if no response arrived.
     */
    | {
        readonly ev: 'effect';
        readonly resource: Resource;
        readonly token: string;
        readonly number: number;
        readonly believed: boolean;
        readonly outcome: 'accepted' | 'refused' | 'unknown';
        readonly answeredAt: string;
      }
    /**
     * The holder is about to downgrade its write lock to a read lock. From `t` on, before the request, it believes in a read lock
     * only.
     */
    | { readonly ev: 'downgrading' }
    /** The store has confirmed the downgrade to a read lock. */
    | { readonly ev: 'downgraded' }
    /** The holder was notified of the loss of its hold. */
    | { readonly ev: 'revoked'; readonly reason: string }
    /** The holder begins to release. `t` is the time before the request. */
    | { readonly ev: 'released' }
    /** The store has confirmed the release. */
    | { readonly ev: 'left' }
    /** The worker cancels its wait. `t` is the time before the request. */
    | { readonly ev: 'cancelled' }
    /** The worker's claim has rejected with an error. */
    | { readonly ev: 'failed'; readonly code: string; readonly message: string }
  );

/**
 * What a worker writes to under the lock. `store` (an etcd key or a znode) and `sql` (a table) compare fencing tokens. `log` is a file without
 * fencing: it accepts every write.
 */
export type Resource = 'store' | 'sql' | 'log';

/** An entry that an operator removes. etcd keys are used again, so the token is needed to identify the entry. */
export interface RemovedEntry {
  readonly key: string;
  readonly token?: string;
}

/** An event that the harness itself records: faults, ends of workers, and phases of the run. */
export type HarnessEvent = Stamped &
  /**
   * A fault begins. `number` counts from 1. `target` is a worker, a member, `network` or `store`. A `standstill` of the `machine`
   * is recorded only when it has ended, so its stamps are older than those of earlier lines.
   */
  (
    | {
        readonly ev: 'fault';
        readonly number: number;
        readonly what: string;
        readonly target: string;
        /** The entries that an operator removes, if the fault is such a removal. */
        readonly entries?: readonly RemovedEntry[];
      }
    | { readonly ev: 'healed'; readonly number: number }
    /** A worker was killed. `t` is the time before the signal was sent. */
    | { readonly ev: 'killed'; readonly worker: string }
    | { readonly ev: 'frozen'; readonly worker: string }
    /** A frozen worker continues. `t` is the time before the signal was sent. */
    | { readonly ev: 'thawed'; readonly worker: string }
    /**
     * A worker's process has ended; `clean` means by itself with exit code 0. `tookMs` is the time since its event `closed`,
     * without standstills of the machine.
     */
    | { readonly ev: 'exited'; readonly worker: string; readonly clean: boolean; readonly tookMs: number }
    /** All faults have ended, and workers make no more claims. Every remaining waiter must be granted from now on. */
    | { readonly ev: 'calm' }
    /** Something that the run has left on the server: a `key`, `lease`, `session` or `watch`. */
    | { readonly ev: 'left-over'; readonly kind: string; readonly what: string }
    | { readonly ev: 'end' }
  );

export type ChaosEvent = LifeEvent | AttemptEvent | HarnessEvent;
