/**
 * One step of a client: how it acquires a lock and uses it. Times are in milliseconds of the client's clock.
 */
export interface Step {
  readonly afterMs: number;
  readonly way: (typeof WAYS)[number] | (typeof RECIPES)[number] | 'resume';
  readonly queue: string;
  readonly permits: number;
  readonly holdMs: number;
  /**
   * Timeout of the wait in milliseconds. If `way`, the step's way to acquire the lock, is `claim` or `abort`,
   * the client gives up at this time even if it holds.
   */
  readonly waitTimeoutMs: number | undefined;
  /** Proven time in milliseconds that a hold must have left when it is granted. */
  readonly minRemainingMs: number;
  /**
   * For a holder that writes to a protected resource: the milliseconds that its second write takes to arrive.
   * It sends the second write before the release; the first arrives at the beginning of the hold. The
   * resource accepts a write only while the entry exists. Only for exclusive locks.
   */
  readonly guardMs?: number;
  /**
   * For a step whose `way` is `claim`: whether the client releases the lock in the tick in which it is
   * granted.
   */
  readonly leavesAtGrant?: boolean;
}

export interface ClientPlan {
  readonly ttlMs: number;
  /** Speed of the client's clock: its seconds per second of simulated time. */
  readonly rate: number;
  /**
   * Format of the keys that the client uses on etcd in the queue named `f`. Clients of this queue use both
   * formats at the same time.
   */
  readonly naming: 'go' | 'fast';
  /** Name of the queue that the client watches during the whole run. */
  readonly watches: string | undefined;
  /** The client's lists of steps. Steps of one list run one after another. The lists run at the same time. */
  readonly lanes: readonly (readonly Step[])[];
}

/** A fault, or an action of an operator. Its times are simulated time in milliseconds. */
export interface Fault {
  readonly atMs: number;
  readonly forMs: number;
  readonly kind: (typeof FAULTS)[number];
  readonly client: number;
  /**
   * The members of the store that the fault affects. `leader` is the leader at the time of the fault. `its
   * own` means the members to which the client of the fault is connected.
   */
  readonly member: number | 'leader' | 'followers' | 'all' | 'its own';
  /** Severity of the fault, from 0 to 1. Its meaning depends on the kind. */
  readonly degree: number;
}

/** The kinds of stores that can be simulated. */
export type StoreName = 'etcd' | 'zookeeper';

/** All random choices of a simulated run. Delays are chosen during the run, by the same seed. */
export interface Plan {
  readonly store: StoreName;
  readonly seed: number;
  readonly members: number;
  readonly version: string;
  /** Whether the clients reach etcd through grpc-proxies, which number watches themselves. */
  readonly isProxied: boolean;
  /** The two queues that the clients of the simulated run use. */
  readonly queues: readonly [string, string];
  readonly clients: readonly ClientPlan[];
  readonly faults: readonly Fault[];
}

/** All kinds of faults. A kind that is listed several times occurs more often. */
export const FAULTS = [
  'requests lost',
  'requests late',
  'replies lost',
  'replies late',
  'cut off',
  'cut off, late',
  'lossy',
  'repeated',
  'slow',
  'slow answers',
  'reset',
  'member pauses',
  'member pauses',
  'member restarts',
  'member is cut from others',
  'member lags',
  'client pauses',
  'client crashes',
  'client closes',
  'client moves',
  'entry is removed',
  'stranger',
  'denied',
  'denied',
  'compaction',
] as const;

/** All ways to acquire and use a lock. A way that is listed several times occurs more often. */
export const WAYS = [
  'acquire',
  'acquire',
  'run',
  'update',
  'shared',
  'try',
  'permits',
  'multi',
  'multi try',
  'multi shared',
  'downgrade',
  'abort',
  'claim',
  'steal',
] as const;

/** The recipes of @queuelock/recipes that clients use in a run. */
export const RECIPES = ['campaign', 'lead', 'cohort', 'semaphore', 'round', 'slot', 'latch'] as const;

/** A queue on etcd with a single key, which the holder takes as well. */
export const SINGLE = { queue: 's', key: 'single' } as const;
/**
 * The naming schemes of the queues `f`, `k` and `w` on ZooKeeper. All other queues have the naming `curator`.
 */
export const NAMINGS: Readonly<Record<string, 'fast' | 'kazoo' | 'curator-read-write'>> = {
  f: 'fast',
  k: 'kazoo',
  w: 'curator-read-write',
};
/**
 * Largest error in the speed of a client's clock, as a fraction. The product tolerates clocks that differ by
 * 1 %.
 */
export const RATE_ERROR = 0.004;
/** Simulated time in milliseconds after which no fault begins. */
export const FAULTS_END_MS = 30_000;
/** Number of permits of the semaphore of a run, whose queue is named `p`. */
export const LIMIT = 3;
/** Number of members of each round of the double barrier that simulated clients use. */
export const ROUND_MEMBERS = 2;
/** Initial count of each latch that simulated clients use. */
export const LATCH_COUNT = 3;
