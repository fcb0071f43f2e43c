/** One acquisition and what is done with it. Times are in milliseconds of the client's clock. */
export interface Step {
  readonly afterMs: number;
  readonly way: (typeof WAYS)[number] | (typeof RECIPES)[number] | 'resume';
  readonly queue: string;
  readonly permits: number;
  readonly holdMs: number;
  /** Time limit of the wait; a claim or an abort ends at it in any case. */
  readonly patienceMs: number | undefined;
  /** Minimum remaining time at the start of the hold. */
  readonly minRemainingMs: number;
  /**
   * Set if the hold guards its writes by its entry. One write arrives at its beginning, another is sent before its release and
   * arrives this much later. Only for exclusive locks.
   */
  readonly guardMs?: number;
}

export interface ClientPlan {
  readonly ttlMs: number;
  /** True length of a second of its clock. */
  readonly rate: number;
  /** Naming of its entries in the queue `f` on etcd. */
  readonly naming: 'go' | 'fast';
  /** Queue that it watches all the time. */
  readonly watches: string | undefined;
  /** Steps of a lane run one after another, lanes in parallel. */
  readonly lanes: readonly (readonly Step[])[];
}

/** A fault or an intervention, in true time. */
export interface Fault {
  readonly atMs: number;
  readonly forMs: number;
  readonly kind: (typeof FAULTS)[number];
  readonly client: number;
  /** `leader`: the leader at that time; `its own`: the members that the client is connected to. */
  readonly member: number | 'leader' | 'followers' | 'all' | 'its own';
  /** Severity from 0 to 1. */
  readonly degree: number;
}

/** The simulated stores. */
export type StoreName = 'etcd' | 'zookeeper';

/** All choices of a run. The rest follows from the seed. */
export interface Plan {
  readonly store: StoreName;
  readonly seed: number;
  readonly members: number;
  readonly version: string;
  /** Whether the clients reach etcd through grpc-proxies, which number watches themselves. */
  readonly isProxied: boolean;
  /** The two queues in use. */
  readonly queues: readonly [string, string];
  readonly clients: readonly ClientPlan[];
  readonly faults: readonly Fault[];
}

/** Possible faults; some are listed repeatedly to be more frequent. */
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

/** Ways to use a queue. */
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

/** Recipes to use. */
export const RECIPES = ['campaign', 'lead', 'cohort', 'semaphore', 'round', 'slot', 'latch'] as const;

/** On etcd the holder of `s` also has its single key; in `f` both namings share the queue. */
export const SINGLE = { queue: 's', key: 'single' } as const;
/** Namings on ZooKeeper: these for the listed queues, and Curator's elsewhere. */
export const NAMINGS: Readonly<Record<string, 'fast' | 'kazoo' | 'curator-read-write'>> = {
  f: 'fast',
  k: 'kazoo',
  w: 'curator-read-write',
};
/** Largest rate error of a clock; the product tolerates 1 % between two clocks. */
export const RATE_ERROR = 0.004;
/** Time after which there are no more faults. */
export const FAULTS_END_MS = 30_000;
/** Number of permits in `p`. */
export const LIMIT = 3;
/** Members of the double barrier, and count of the latch. */
export const ROUND_MEMBERS = 2;
export const LATCH_COUNT = 3;
