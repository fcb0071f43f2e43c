import type { Resource, Terms } from '@queuelock/harness/check/event';

/** Setup of a worker: the JSON in its first argument. */
export interface WorkerSetup {
  /** Id of the worker, such as `worker-3`. */
  readonly id: string;
  /** URL of the backend, with all its options. */
  readonly url: string;
  readonly ttlMs: number;
  readonly safetyMarginMs: number;
  /** Heartbeat interval. Default: the core's. */
  readonly heartbeatIntervalMs?: number;
  /** Rule by which holds are believed in, see `controls.ts`. `product` is queuelock unchanged. */
  readonly rule: Rule;
  /** File to which the worker appends its history. */
  readonly history: string;
  /** Addresses of the resources for effects. A resource that is not named is not written. */
  readonly resources: Partial<Readonly<Record<Resource, string>>>;
  /** Seed of all random choices of the worker. */
  readonly seed: number;
  /** Number of lock clients that take turns in attempts. Each has its own session. Default 1. */
  readonly clients?: number;
  /** The worker's own clock, if it differs from the machine's. Stamps are corrected by it. */
  readonly clock?: FakedClock;
  /**
   * Whether only events about the worker's life are sent to the harness. Attempts and heartbeats are then
   * only in the file.
   */
  readonly quiet?: boolean;
}

/** A monotonic clock with another rate than the machine's. */
export interface FakedClock {
  /** How much this clock advances while the machine's clock advances by 1. */
  readonly rate: number;
  /**
   * What the machine's monotonic clock shows when its boot clock shows 0, in nanoseconds, as a decimal
   * string.
   */
  readonly bootNs: string;
  /** Largest delay that the fake clock adds to the core, in milliseconds. */
  readonly lagMs: number;
  /**
   * Whether the worker's lock clients use only this clock, and never the boot clock. For control runs that
   * have to fail.
   */
  readonly alone?: boolean;
}

/**
 * The rule by which a hold is believed in. All rules except `product` model other clients, for control runs
 * that have to fail. `plain`: the last heartbeat with a response counts, from its send time. `connected`
 * (ZooKeeper): the hold lasts as long as reads have responses. `newest` (ZooKeeper): as in the product, but
 * counted from the newest acknowledged write; `plain` means the same there. `overlong`: every heartbeat
 * proves twice its time. `generous`: one entry too many is admitted.
 */
export type Rule = 'product' | 'plain' | 'connected' | 'newest' | 'overlong' | 'generous';

/** Commands of the harness to a worker over the channel. */
export type WorkerCommand =
  /**
   * Joins the queue; it may be sent several times. The worker holds until the command to release or a loss.
   * It reads `held` every 10 ms, and writes an effect every `effectEveryMs`.
   */
  | {
      readonly do: 'hold';
      readonly queue: string;
      readonly effectEveryMs?: number;
      /** Further names of the same claim. */
      readonly with?: readonly string[];
      readonly terms?: Terms;
    }
  /** Ends the worker's attempts on this queue; with `n`, only that attempt. */
  | { readonly do: 'release'; readonly queue: string; readonly n?: number }
  /** Turns the write locks that the worker holds on this queue into read locks. */
  | { readonly do: 'downgrade'; readonly queue: string }
  /** Joins random queues repeatedly until the command `drain`. Shares are from 0 to 1. */
  | {
      readonly do: 'load';
      readonly queues: readonly string[];
      /** Number of names of a claim. Default 1. */
      readonly names?: number;
      /** Terms of the claims. The number of permits is drawn from 1 to the one given here. */
      readonly terms?: Terms;
      /** Share of write locks that become read locks half-way through the hold. Default 0. */
      readonly downgradeShare?: number;
      readonly holdMs: readonly [least: number, most: number];
      /** Share of waits that are aborted after a random time of up to a second. */
      readonly cancelShare: number;
      /** Share of attempts that are aborted while they are being enqueued. */
      readonly abortShare: number;
      /** Share of holds in which effects are written, one at the beginning and one at the end. Default 1. */
      readonly effectShare?: number;
      /** Number of attempts in parallel. Default 1. */
      readonly parallel?: number;
    }
  /** Begins no new attempts. Attempts in progress continue to their end. */
  | { readonly do: 'drain' }
  /** Blocks the worker's event loop. */
  | { readonly do: 'stall'; readonly ms: number }
  /** Makes heartbeats fail without being sent, or sends them again. */
  | { readonly do: 'beats'; readonly sent: boolean }
  /**
   * Writes an effect on every resource with the token of the worker's last hold of this queue, whether it
   * still holds or not.
   */
  | { readonly do: 'effect'; readonly queue: string }
  /** Ends the worker at once without cleanup: by `process.exit`, or by an uncaught error. */
  | { readonly do: 'end'; readonly by: 'exit' | 'throw' }
  /** Closes the worker's clients, and ends the worker. */
  | { readonly do: 'close' };
