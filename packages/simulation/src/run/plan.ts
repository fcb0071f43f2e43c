/** One acquisition and what is done with it. Times in milliseconds of the client's clock. */
export interface Step {
  readonly afterMs: number;
  readonly way: (typeof WAYS)[number] | (typeof RECIPES)[number] | 'resume';
  readonly queue: string;
  readonly permits: number;
  readonly holdMs: number;
  /** Gives up after that; for a claim or an abort, in any case. */
  readonly patienceMs: number | undefined;
  /** Of the hold, before it begins. */
  readonly minRemainingMs: number;
  /**
   * The hold guards its writes by its entry: one that arrives when it begins, and one that is sent before its release and arrives this much
   * later. Only of exclusive locks.
   */
  readonly guardMs?: number;
}

export interface ClientPlan {
  readonly ttlMs: number;
  /** What one of its seconds lasts. */
  readonly rate: number;
  /** How it names its entries in the queue `f` on etcd. */
  readonly naming: 'go' | 'fast';
  /** A queue that it looks at all the time. */
  readonly watches: string | undefined;
  /** Done one after the other; the lanes at once. */
  readonly lanes: readonly (readonly Step[])[];
}

/** Something that goes wrong, or is done to somebody, in true time. */
export interface Fault {
  readonly atMs: number;
  readonly forMs: number;
  readonly kind: (typeof FAULTS)[number];
  readonly client: number;
  /** `leader`: whoever leads then; `its own`: those to which the client has connections. */
  readonly member: number | 'leader' | 'followers' | 'all' | 'its own';
  /** From 0 up to 1: how bad it is. */
  readonly degree: number;
}

/** The stores that there are. */
export type StoreName = 'etcd' | 'zookeeper';

/** All that is chosen of a run. The rest follows from the seed. */
export interface Plan {
  readonly store: StoreName;
  readonly seed: number;
  readonly members: number;
  readonly version: string;
  /** Whether the clients reach etcd through grpc-proxies, which number watches themselves. */
  readonly isProxied: boolean;
  /** The two that are used. */
  readonly queues: readonly [string, string];
  readonly clients: readonly ClientPlan[];
  readonly faults: readonly Fault[];
}

/** What may go wrong, some of it more often. */
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

/** What is done with a queue. */
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

/** What is done with a recipe. */
export const RECIPES = ['campaign', 'lead', 'cohort', 'semaphore', 'round', 'slot', 'latch'] as const;

/** On etcd whoever holds `s` has its single key as well; in `f` both namings stand in one line. */
export const SINGLE = { queue: 's', key: 'single' } as const;
/** On ZooKeeper all clients use these names there, and Curator's elsewhere. */
export const NAMINGS: Readonly<Record<string, 'fast' | 'kazoo' | 'curator-read-write'>> = {
  f: 'fast',
  k: 'kazoo',
  w: 'curator-read-write',
};
/** How far a clock may be off; the product allows for 1 % between two. */
export const RATE_ERROR = 0.004;
/** After that nothing goes wrong any more. */
export const TROUBLE_ENDS_MS = 30_000;
/** Of the permits in `p`. */
export const LIMIT = 3;
/** Of the double barrier, and of the latch. */
export const ROUND_MEMBERS = 2;
export const LATCH_COUNT = 3;
