import type { Resource, Terms } from '@queuelock/harness/check/event';

/** How a worker is set up: the JSON in its first argument. */
export interface WorkerSetup {
  /** `worker-3` */
  readonly id: string;
  /** Of the backend, with all its options. */
  readonly url: string;
  readonly ttlMs: number;
  readonly safetyMarginMs: number;
  /** The core's pace without it. */
  readonly heartbeatIntervalMs?: number;
  /** See `controls.ts`; `product` is queuelock as it is. */
  readonly rule: Rule;
  /** The file that its history is appended to. */
  readonly history: string;
  /** Where effects go to; a resource that is not named is not written. */
  readonly resources: Partial<Readonly<Record<Resource, string>>>;
  /** Of everything that it chooses by chance. */
  readonly seed: number;
  /** So many lock clients, each with a session of its own, take turns in what it is told to hold. Default 1. */
  readonly clients?: number;
  /** What its own clock is, where that is not the machine's: stamps are corrected by it. */
  readonly clock?: FakedClock;
  /** The harness is told of the worker's life alone; what becomes of attempts, and heartbeats, are only in the file. */
  readonly quiet?: boolean;
}

/** A monotonic clock that runs at another rate than the machine's. */
export interface FakedClock {
  /** How far it gets while the machine's gets 1. */
  readonly rate: number;
  /** What the machine's monotonic clock shows when its boot clock shows 0, in nanoseconds, as text. */
  readonly bootNs: string;
  /** By how much the core may be late on account of it, in milliseconds. */
  readonly lagMs: number;
  /** Its lock clients go by it alone, and never ask the boot clock: for control runs that have to fail. */
  readonly alone?: boolean;
}

/**
 * By which rule a hold is believed in. The others are what clients without our rules do, for control runs that have to fail:
 * `plain`: the last heartbeat that was answered, from when it was sent. `connected` (ZooKeeper): as long as reads are answered.
 * `newest` (ZooKeeper): as ours, with the newest acknowledged write as base, which is what `plain` comes to there.
 * `overlong`: every heartbeat is taken to prove twice what it does. `generous`: one more is let in than may be.
 */
export type Rule = 'product' | 'plain' | 'connected' | 'newest' | 'overlong' | 'generous';

/** What the harness tells a worker over the channel. */
export type WorkerCommand =
  /** Joins the queue, also again; holds until it is told to release or loses it, looks every 10 ms, and writes an effect every `effectEveryMs`. */
  | {
      readonly do: 'hold';
      readonly queue: string;
      readonly effectEveryMs?: number;
      /** Others that are taken together with it. */
      readonly with?: readonly string[];
      readonly terms?: Terms;
    }
  /** Gives up its places in this queue, whatever they are; with `n`, that attempt alone. */
  | { readonly do: 'release'; readonly queue: string; readonly n?: number }
  /** Turns the write locks that it holds there into read locks. */
  | { readonly do: 'downgrade'; readonly queue: string }
  /** Joins queues at random, again and again, until `drain`. Shares from 0 to 1. */
  | {
      readonly do: 'load';
      readonly queues: readonly string[];
      /** So many of them are taken together. Default 1. */
      readonly names?: number;
      /** Permits are from 1 to what it says. */
      readonly terms?: Terms;
      /** Write locks that become read locks half-way. Default 0. */
      readonly downgradeShare?: number;
      readonly holdMs: readonly [least: number, most: number];
      /** Waits that are given up after a random part of a second. */
      readonly cancelShare: number;
      /** Attempts that are given up while they are being enqueued. */
      readonly abortShare: number;
      /** Holds in which effects are written, one at the beginning and one at the end. Default 1. */
      readonly effectShare?: number;
      /** At the same time. Default 1. */
      readonly parallel?: number;
    }
  /** Begins no new attempt; what is under way goes on to its end. */
  | { readonly do: 'drain' }
  /** Blocks the event loop. */
  | { readonly do: 'stall'; readonly ms: number }
  /** From now on heartbeats are not sent (and fail), or sent again. */
  | { readonly do: 'beats'; readonly sent: boolean }
  /** Writes an effect on every resource with the token of its last hold of this queue, held or not. */
  | { readonly do: 'effect'; readonly queue: string }
  /** Ends at once, as programs do that never heard of locks: by `process.exit`, or by an error that nobody catches. */
  | { readonly do: 'end'; readonly by: 'exit' | 'throw' }
  /** Closes its clients and ends. */
  | { readonly do: 'close' };
