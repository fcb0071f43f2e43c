import type { Resource, Terms } from '@queuelock/harness/check/event';

/** Setup of a worker: the JSON in its first argument. */
export interface WorkerSetup {
  /** Id such as `worker-3`. */
  readonly id: string;
  /** URL of the backend, with all its options. */
  readonly url: string;
  readonly ttlMs: number;
  readonly safetyMarginMs: number;
  /** Heartbeat interval. Default: the core's. */
  readonly heartbeatIntervalMs?: number;
  /** See `controls.ts`; `product` is queuelock unchanged. */
  readonly rule: Rule;
  /** File that its history is appended to. */
  readonly history: string;
  /** Targets of effects; a resource that is not named is not written. */
  readonly resources: Partial<Readonly<Record<Resource, string>>>;
  /** Seed of all its random choices. */
  readonly seed: number;
  /** Number of lock clients, each with a session of its own, that take turns in attempts. Default 1. */
  readonly clients?: number;
  /** Its own clock, if it differs from the machine's: stamps are corrected by it. */
  readonly clock?: FakedClock;
  /** Sends only the worker's life events to the harness; attempts and heartbeats are only in the file. */
  readonly quiet?: boolean;
}

/** A monotonic clock with another rate than the machine's. */
export interface FakedClock {
  /** Its advance while the machine's clock advances by 1. */
  readonly rate: number;
  /** What the machine's monotonic clock shows when its boot clock shows 0, in nanoseconds, as text. */
  readonly bootNs: string;
  /** Largest delay of the core because of it, in milliseconds. */
  readonly lagMs: number;
  /** Whether its lock clients use only this clock, and never the boot clock: for control runs that have to fail. */
  readonly alone?: boolean;
}

/**
 * Rule by which a hold is believed in. All except `product` model other clients, for control runs that have to fail. `plain`: the
 * last answered heartbeat, from when it was sent. `connected` (ZooKeeper): as long as reads are answered. `newest` (ZooKeeper):
 * as ours, with the newest acknowledged write as base, which is what `plain` means there. `overlong`: every heartbeat proves
 * twice its time. `generous`: one too many is admitted.
 */
export type Rule = 'product' | 'plain' | 'connected' | 'newest' | 'overlong' | 'generous';

/** Commands of the harness to a worker over the channel. */
export type WorkerCommand =
  /**
   * Joins the queue, also repeatedly. Holds until the command to release or a loss, reads every 10 ms, and writes an effect
   * every `effectEveryMs`.
   */
  | {
      readonly do: 'hold';
      readonly queue: string;
      readonly effectEveryMs?: number;
      /** Other names of the same claim. */
      readonly with?: readonly string[];
      readonly terms?: Terms;
    }
  /** Ends its attempts on this queue; with `n`, only that attempt. */
  | { readonly do: 'release'; readonly queue: string; readonly n?: number }
  /** Turns the write locks that it holds there into read locks. */
  | { readonly do: 'downgrade'; readonly queue: string }
  /** Joins random queues repeatedly until `drain`. Shares are from 0 to 1. */
  | {
      readonly do: 'load';
      readonly queues: readonly string[];
      /** Number of names of a claim. Default 1. */
      readonly names?: number;
      /** Permits are from 1 to this number. */
      readonly terms?: Terms;
      /** Share of write locks that become read locks half-way. Default 0. */
      readonly downgradeShare?: number;
      readonly holdMs: readonly [least: number, most: number];
      /** Share of waits that are aborted after a random part of a second. */
      readonly cancelShare: number;
      /** Share of attempts that are aborted while they are being enqueued. */
      readonly abortShare: number;
      /** Share of holds in which effects are written, one at the beginning and one at the end. Default 1. */
      readonly effectShare?: number;
      /** Number of attempts at the same time. Default 1. */
      readonly parallel?: number;
    }
  /** Begins no new attempt; those in progress continue to their end. */
  | { readonly do: 'drain' }
  /** Blocks the event loop. */
  | { readonly do: 'stall'; readonly ms: number }
  /** Stops sending heartbeats (they fail), or sends them again. */
  | { readonly do: 'beats'; readonly sent: boolean }
  /** Writes an effect on every resource with the token of its last hold of this queue, held or not. */
  | { readonly do: 'effect'; readonly queue: string }
  /** Ends at once, as a program without locks does: by `process.exit`, or by an uncaught error. */
  | { readonly do: 'end'; readonly by: 'exit' | 'throw' }
  /** Closes its clients and ends. */
  | { readonly do: 'close' };
