/**
 * What happened in a run, as its parties wrote it down: one JSON object a line, a file per process, append only.
 *
 * Stamps are nanoseconds of the machine's monotonic clock (`process.hrtime`), the same for all its processes, as decimal
 * strings; other numbers that may be large are decimal strings too.
 */
interface Stamped {
  readonly t: string;
  /** The process: `worker-3`, `harness`. */
  readonly who: string;
}

/** Of one attempt of one worker to hold one queue. */
interface OfAttempt extends Stamped {
  readonly queue: string;
  /** The attempt; counts the worker's attempts on all queues, from 1. */
  readonly n: number;
}

/** A worker begins or ends. */
export type LifeEvent = Stamped &
  (
    | {
        readonly ev: 'started';
        readonly pid: number;
        readonly ttlMs: number;
        readonly safetyMarginMs: number;
      }
    /** The client was closed; the process is about to end by itself. `loopDelayMs`: the longest its event loop was late. */
    | { readonly ev: 'closed'; readonly loopDelayMs: number }
    /** An uncaught exception or an unhandled rejection. */
    | { readonly ev: 'crashed'; readonly message: string }
    /** The event loop was blocked on purpose, from `t` on. */
    | { readonly ev: 'stalled'; readonly ms: number }
    /**
     * A heartbeat was confirmed at `t`; it was sent at `sentAt` and proves so many milliseconds from then on, less 1 % and
     * the margin (see `deadlineOf` of the core). The opening of a session counts as one.
     */
    | {
        readonly ev: 'beat';
        readonly session: string;
        readonly sentAt: string;
        readonly provenMs: number;
      }
    /** The session ended, as the client heard it. */
    | { readonly ev: 'session-lost' }
    /** The heap right after a full garbage collection, and how many attempts had come to an end by then. */
    | { readonly ev: 'memory'; readonly heapBytes: number; readonly cycles: number }
  );

/** What is asked for besides a name; where nothing is said, that name alone as an exclusive lock. */
export interface Terms {
  /** Together with other shared holds. */
  readonly shared?: true;
  /** A semaphore of so many permits, and how many of them; 1 each if it is not said. */
  readonly limit?: number;
  readonly permits?: number;
  /** By way of a leader election. */
  readonly leader?: true;
}

/** What became of an attempt. */
export type AttemptEvent = OfAttempt &
  /** It was asked for. */
  (
    | {
        readonly ev: 'enqueue';
        readonly session?: string;
        readonly terms?: Terms;
        /** One claim of several names is an attempt on each of them: the numbers of all, this one among them. */
        readonly together?: readonly number[];
      }
    /** It stands in line (also said, just before `acquired`, of one that is admitted at once). */
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
    /** Somebody looked whether it is held; `t` is from before the look. */
    | { readonly ev: 'look'; readonly held: boolean }
    /**
     * A protected write, or an unprotected one (`log`). `t`: before it was sent; `believed`: what `held` said then.
     * `number` counts the effects of the hold. `unknown`: no answer came.
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
    /** The write lock is to become a read lock: from `t` on, before that was asked for, its holder believes in no more. */
    | { readonly ev: 'downgrading' }
    /** That was confirmed. */
    | { readonly ev: 'downgraded' }
    /** The hold was lost, as its holder heard it. */
    | { readonly ev: 'revoked'; readonly reason: string }
    /** The holder gives it up; `t` is from before it asks. */
    | { readonly ev: 'released' }
    /** The release was confirmed. */
    | { readonly ev: 'left' }
    /** The wait was given up by the worker; `t` is from before it asks. */
    | { readonly ev: 'cancelled' }
    /** The wait ended in an error. */
    | { readonly ev: 'failed'; readonly code: string; readonly message: string }
  );

/** What effects go to: an etcd key or znode, an SQL table, each fenced; and a file that takes everything. */
export type Resource = 'store' | 'sql' | 'log';

/** An entry that an operator removes. In etcd keys are used again, so its token belongs to it. */
export interface RemovedEntry {
  readonly key: string;
  readonly token?: string;
}

/** What the harness did and saw. */
export type HarnessEvent = Stamped &
  /**
   * A fault begins. `number` counts from 1; `target`: a worker, a member, `network`, `store`. A `standstill` of the `machine` is known
   * when it is over: its stamps are older than those of the lines before it.
   */
  (
    | {
        readonly ev: 'fault';
        readonly number: number;
        readonly what: string;
        readonly target: string;
        /** The entries that it removes. */
        readonly entries?: readonly RemovedEntry[];
      }
    | { readonly ev: 'healed'; readonly number: number }
    /** A worker was killed; `t` is from before the signal was sent. */
    | { readonly ev: 'killed'; readonly worker: string }
    | { readonly ev: 'frozen'; readonly worker: string }
    /** `t` is from before it goes on. */
    | { readonly ev: 'thawed'; readonly worker: string }
    /** A worker's process is gone. `clean`: it ended by itself with exit code 0; `tookMs`: after `closed`, as the harness lived it. */
    | { readonly ev: 'exited'; readonly worker: string; readonly clean: boolean; readonly tookMs: number }
    /** All faults are over and nobody asks any more: whoever still waits has to be served from now on. */
    | { readonly ev: 'calm' }
    /** What the server still had when everything was over: `key`, `lease`, `session`, `watch`. */
    | { readonly ev: 'left-over'; readonly kind: string; readonly what: string }
    | { readonly ev: 'end' }
  );

export type ChaosEvent = LifeEvent | AttemptEvent | HarnessEvent;
