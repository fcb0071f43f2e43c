/**
 * Events of a run, as its processes record them: one JSON object per line, and one append-only file for each process.
 *
 * Stamps are nanoseconds of the machine's monotonic clock (`process.hrtime`), the same for all its processes, as decimal strings.
 * Other numbers that may be large are decimal strings too.
 */
interface Stamped {
  readonly t: string;
  /** Name of the process: `worker-3`, `harness`. */
  readonly who: string;
}

/** An event of one attempt of one worker to hold one queue. */
interface OfAttempt extends Stamped {
  readonly queue: string;
  /** Number of the attempt among the worker's attempts on all queues, from 1. */
  readonly n: number;
}

/** A worker starts or ends. */
export type LifeEvent = Stamped &
  (
    | {
        readonly ev: 'started';
        readonly pid: number;
        readonly ttlMs: number;
        readonly safetyMarginMs: number;
      }
    /** The client was closed, and the process is about to end by itself. `loopDelayMs`: longest delay of its event loop. */
    | { readonly ev: 'closed'; readonly loopDelayMs: number }
    /** The worker had an uncaught exception or an unhandled rejection. */
    | { readonly ev: 'crashed'; readonly message: string }
    /** The event loop was blocked on purpose from `t` on. */
    | { readonly ev: 'stalled'; readonly ms: number }
    /**
     * A heartbeat was confirmed at `t`. It was sent at `sentAt` and proves this many milliseconds from then on, minus 1 % and the
     * safety margin (see `deadlineOf` of the core). Opening a session counts as a heartbeat.
     */
    | {
        readonly ev: 'beat';
        readonly session: string;
        readonly sentAt: string;
        readonly provenMs: number;
      }
    /** The session ended, as the client was notified. */
    | { readonly ev: 'session-lost' }
    /** Size of the heap right after a full garbage collection, and the number of finished attempts. */
    | { readonly ev: 'memory'; readonly heapBytes: number; readonly cycles: number }
  );

/** Options of a claim. Without them it is an exclusive lock of one name. */
export interface Terms {
  /** Whether the claim is for a shared hold. */
  readonly shared?: true;
  /** Permits of the semaphore, and how many of them the claim takes. Default: 1 each. */
  readonly limit?: number;
  readonly permits?: number;
  /** The claim is made by a leader election. */
  readonly leader?: true;
}

/** An event of an attempt. */
export type AttemptEvent = OfAttempt &
  /** The worker has requested the claim. */
  (
    | {
        readonly ev: 'enqueue';
        readonly session?: string;
        readonly terms?: Terms;
        /** Numbers of all attempts of the claim, this one included: a claim of several names is one attempt on each of them. */
        readonly together?: readonly number[];
      }
    /** The entry is in the queue. Also recorded, just before `acquired`, for an entry that is admitted at once. */
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
    /** The worker read `held`. `t` is the time before the read. */
    | { readonly ev: 'look'; readonly held: boolean }
    /**
     * A write, fenced or unfenced (`log`). `t`: before it was sent; `believed`: value of `held` then. `number` counts the effects
     * of the hold. `unknown`: no response arrived.
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
     * The write lock is about to become a read lock: from `t` on, before the request, its holder believes in a read lock only.
     */
    | { readonly ev: 'downgrading' }
    /** The store has confirmed that the write lock is a read lock now. */
    | { readonly ev: 'downgraded' }
    /** The holder was notified of the loss of its hold. */
    | { readonly ev: 'revoked'; readonly reason: string }
    /** The holder releases. `t` is the time before the request. */
    | { readonly ev: 'released' }
    /** The store has confirmed the release. */
    | { readonly ev: 'left' }
    /** The worker aborts the wait. `t` is the time before the request. */
    | { readonly ev: 'cancelled' }
    /** The wait of the attempt ended in an error. */
    | { readonly ev: 'failed'; readonly code: string; readonly message: string }
  );

/** Target of effects: an etcd key or znode or an SQL table, each fenced; or a file that accepts everything. */
export type Resource = 'store' | 'sql' | 'log';

/** An entry that an operator removes. etcd keys are reused, so the token is part of its identity. */
export interface RemovedEntry {
  readonly key: string;
  readonly token?: string;
}

/** Actions and observations of the harness. */
export type HarnessEvent = Stamped &
  /**
   * A fault begins. `number` counts from 1; `target`: a worker, a member, `network`, `store`. A `standstill` of the `machine` is
   * recorded when it is over, so its stamps are older than those of the lines before it.
   */
  (
    | {
        readonly ev: 'fault';
        readonly number: number;
        readonly what: string;
        readonly target: string;
        /** Entries that the fault removes. */
        readonly entries?: readonly RemovedEntry[];
      }
    | { readonly ev: 'healed'; readonly number: number }
    /** A worker was killed. `t` is the time before the signal was sent. */
    | { readonly ev: 'killed'; readonly worker: string }
    | { readonly ev: 'frozen'; readonly worker: string }
    /** A worker is thawed. `t` is the time before the signal was sent. */
    | { readonly ev: 'thawed'; readonly worker: string }
    /**
     * A worker's process has ended. `clean`: by itself with exit code 0. `tookMs`: time since `closed` in which the machine did
     * not stall.
     */
    | { readonly ev: 'exited'; readonly worker: string; readonly clean: boolean; readonly tookMs: number }
    /** All faults are over and no more claims are made: from now on every remaining waiter must be granted. */
    | { readonly ev: 'calm' }
    /** Left-over of the run on the server: `key`, `lease`, `session`, `watch`. */
    | { readonly ev: 'left-over'; readonly kind: string; readonly what: string }
    | { readonly ev: 'end' }
  );

export type ChaosEvent = LifeEvent | AttemptEvent | HarnessEvent;
