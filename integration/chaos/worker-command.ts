import type { Resource, Terms } from '@queuelock/harness/check/event';

/** Setup of a worker: the JSON in its first argument. */
export interface WorkerSetup {
  /** Id of the worker, such as `worker-3`. */
  readonly id: string;
  /** URL of the worker's backend, with all its options. */
  readonly url: string;
  readonly ttlMs: number;
  readonly safetyMarginMs: number;
  /** Heartbeat interval of the worker in milliseconds. Default: that of the core. */
  readonly heartbeatIntervalMs?: number;
  /**
   * Rule by which the worker decides how long it still holds. `product` is the rule of queuelock itself. The
   * weaker rules in `controls.ts` are for controls.
   */
  readonly rule: Rule;
  /** File to which the worker appends its history. */
  readonly history: string;
  /**
   * Addresses of the resources to which the worker writes. It does not write to a resource that is left out.
   */
  readonly resources: Partial<Readonly<Record<Resource, string>>>;
  /** Seed of all random choices of the worker. */
  readonly seed: number;
  /**
   * Number of lock clients, which the worker uses in turn for its attempts. Each has its own session. Default
   * 1.
   */
  readonly clients?: number;
  /**
   * The worker's own clock, if it differs from the machine's. Timestamps in the history are converted to the
   * machine's clock.
   */
  readonly clock?: FakedClock;
  /**
   * Whether the worker sends the harness only events about its own start and end. Its attempts and heartbeats
   * are then only in the history file.
   */
  readonly quiet?: boolean;
}

/** A monotonic clock with another rate than the machine's. */
export interface FakedClock {
  /** By how much the worker's clock advances while the machine's clock advances by 1. */
  readonly rate: number;
  /** Time of the machine's monotonic clock when its boot clock shows 0, in nanoseconds, as a decimal string. */
  readonly bootNs: string;
  /**
   * Largest time in milliseconds by which the clock that the worker's core reads is behind the machine's boot
   * clock.
   */
  readonly lagMs: number;
  /**
   * Whether the worker's lock clients never read the boot clock. Then they must violate exclusion, which
   * shows that the test detects violations.
   */
  readonly alone?: boolean;
}

/**
 * The rule by which a worker decides how long it still holds. `product` is queuelock's rule. All others model
 * weaker clients, for control runs in which the checker must find violations.
 * - `plain`: the newest heartbeat with a response proves the TTL, counted from its send time.
 * - `connected` (ZooKeeper): the hold lasts as long as reads have responses.
 * - `newest` (ZooKeeper): an acknowledged heartbeat proves the TTL. With `product` it proves only that an
 *   earlier heartbeat has reached the leader. On ZooKeeper `plain` is the same as `newest`.
 * - `overlong`: every heartbeat counts for a multiple of the time that it proves.
 * - `generous`: one entry too many is admitted.
 */
export type Rule = 'product' | 'plain' | 'connected' | 'newest' | 'overlong' | 'generous';

/** Commands that the harness sends to a worker over the IPC channel. */
export type WorkerCommand =
  /**
   * Joins the queue. The harness may send this command several times for one queue. The worker holds until
   * the command `release` or a loss. It reads the hold's property `held` every 10 ms, and writes to all
   * resources every `effectEveryMs`.
   */
  | {
      readonly do: 'hold';
      readonly queue: string;
      readonly effectEveryMs?: number;
      /** Further names that the claim locks together with `queue`. */
      readonly with?: readonly string[];
      readonly terms?: Terms;
    }
  /** Ends the worker's attempts on this queue; with `n`, only that attempt. */
  | { readonly do: 'release'; readonly queue: string; readonly n?: number }
  /** Turns the write locks that the worker holds on the queue into read locks. */
  | { readonly do: 'downgrade'; readonly queue: string }
  /**
   * Joins random queues repeatedly until the command `drain`. A property whose name ends in `Share` is a
   * probability from 0 to 1.
   */
  | {
      readonly do: 'load';
      readonly queues: readonly string[];
      /** Number of names that each claim of the load locks at once. Default 1. */
      readonly names?: number;
      /**
       * Kind of lock that each claim requests: a shared lock, or permits of a semaphore. The number of
       * permits is random, from 1 to the limit of the semaphore.
       */
      readonly terms?: Terms;
      /** Share of write locks that become read locks half-way through the hold. Default 0. */
      readonly downgradeShare?: number;
      readonly holdMs: readonly [least: number, most: number];
      /**
       * Each claim is aborted if it still waits after a random time of up to so many milliseconds in the
       * queue. Default: only the claims of the shares below are aborted.
       */
      readonly maxWaitMs?: number;
      /** Share of waits that are aborted after a random time of up to a second. */
      readonly cancelShare: number;
      /** Share of attempts that are aborted while they are being enqueued. */
      readonly abortShare: number;
      /**
       * Share of holds in which the worker writes to the resources, once at the beginning and once at the
       * end. Default 1.
       */
      readonly effectShare?: number;
      /** Number of claims that the worker makes in parallel. Default 1. */
      readonly parallel?: number;
    }
  /**
   * Ends the loads: they begin no new attempts to get a lock, and release the locks that they hold or are
   * granted later.
   */
  | { readonly do: 'drain' }
  /** Blocks the worker's event loop. */
  | { readonly do: 'stall'; readonly ms: number }
  /** Makes all heartbeats fail without being sent, or lets the worker send them again. */
  | { readonly do: 'beats'; readonly sent: boolean }
  /**
   * Writes once to every resource with the token of the worker's last hold of this queue, whether it still
   * holds or not.
   */
  | { readonly do: 'effect'; readonly queue: string }
  /** Ends the worker at once without cleanup: by `process.exit`, or by an uncaught error. */
  | { readonly do: 'end'; readonly by: 'exit' | 'throw' }
  /** Closes the worker's lock clients, and ends the worker. */
  | { readonly do: 'close' };
