/** One acquisition and the use of its hold. Times are in milliseconds of the client's clock. */
export interface Step {
  readonly afterMs: number;
  readonly way: (typeof WAYS)[number] | (typeof RECIPES)[number] | 'resume';
  readonly queue: string;
  readonly permits: number;
  readonly holdMs: number;
  /**
   * Time limit of the wait in milliseconds. A claim or an abort ends at this time whether it holds or not.
   */
  readonly patienceMs: number | undefined;
  /** Required remaining time of the hold when it begins, in milliseconds. */
  readonly minRemainingMs: number;
  /**
   * Set if writes of the hold are guarded by its entry. One write arrives when the hold begins. Another is
   * sent before the release and arrives this many milliseconds later. Only for exclusive locks.
   */
  readonly guardMs?: number;
}

export interface ClientPlan {
  readonly ttlMs: number;
  /** Rate of the client's clock: its seconds per true second. */
  readonly rate: number;
  /** Key format of the client's entries in the queue `f` on etcd. */
  readonly naming: 'go' | 'fast';
  /** Name of the queue that the client watches during the whole run. */
  readonly watches: string | undefined;
  /** Lists of steps. The steps of one list run one after another, and the lists run in parallel. */
  readonly lanes: readonly (readonly Step[])[];
}

/** A fault or an intervention, in true time. */
export interface Fault {
  readonly atMs: number;
  readonly forMs: number;
  readonly kind: (typeof FAULTS)[number];
  readonly client: number;
  /**
   * The affected members. `leader` is the leader at that time, and `its own` are the members that the client
   * is connected to.
   */
  readonly member: number | 'leader' | 'followers' | 'all' | 'its own';
  /** Severity from 0 to 1. */
  readonly degree: number;
}

/** The simulated stores. */
export type StoreName = 'etcd' | 'zookeeper';

/** All choices of a run. The seed determines everything else. */
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

/** The possible faults. Some are listed repeatedly so that they occur more often. */
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

/** The ways to use a queue. */
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

/** The recipes that steps use. */
export const RECIPES = ['campaign', 'lead', 'cohort', 'semaphore', 'round', 'slot', 'latch'] as const;

/**
 * Special queues on etcd: the holder of `s` also has its single key. Entries of both key formats share the
 * queue `f`.
 */
export const SINGLE = { queue: 's', key: 'single' } as const;
/** Key formats on ZooKeeper for these queues. All other queues have Curator's format. */
export const NAMINGS: Readonly<Record<string, 'fast' | 'kazoo' | 'curator-read-write'>> = {
  f: 'fast',
  k: 'kazoo',
  w: 'curator-read-write',
};
/**
 * Largest rate error of a clock, as a fraction. The product tolerates a difference of 1 % between two clocks.
 */
export const RATE_ERROR = 0.004;
/** True time in milliseconds after which no fault begins. */
export const FAULTS_END_MS = 30_000;
/** Number of permits of the queue `p`. */
export const LIMIT = 3;
/** Number of members of the double barrier. The next constant is the count of the latch. */
export const ROUND_MEMBERS = 2;
export const LATCH_COUNT = 3;
