// What the benchmark measures: a cell is one scenario at one size on one kind of server.
export const STORES = ['etcd', 'zookeeper', 'redis'] as const;
export type StoreName = (typeof STORES)[number];

/** The kinds of storage on which a measured server keeps its data: memory (`tmpfs`) or a disk. */
export const MEDIA = ['tmpfs', 'disk'] as const;
export type Medium = (typeof MEDIA)[number];

export const SCENARIOS = [
  'call',
  'cold',
  'free',
  'many',
  'drain',
  'spread',
  'sessions',
  'sessions-cold',
  'fresh',
  'mass',
  'idle',
  'memory',
  'start',
] as const;
export type Scenario = (typeof SCENARIOS)[number];

export interface Cell {
  readonly store: StoreName;
  readonly medium: Medium;
  readonly scenario: Scenario;
  /** Number of calls in flight, locks, waiters, clients or holds; which one depends on the scenario. */
  readonly size: number;
  /** Whether other clients write keys outside of the measured queues at the same time. */
  readonly noise?: true;
}

/** The scenarios and sizes that one run of the benchmark measures. */
export interface Extent {
  readonly scenarios: readonly Scenario[];
  /** The numbers of waiters with which hand-offs are measured. */
  readonly n: readonly number[];
  /**
   * Whether to measure only the few scenarios and sizes whose results differ little from round to round, to
   * save time.
   */
  readonly short: boolean;
}

const SIZES: Readonly<Record<Exclude<Scenario, 'drain' | 'spread'>, readonly number[]>> = {
  call: [1, 64],
  cold: [1],
  free: [1, 64],
  many: [256],
  sessions: [100],
  'sessions-cold': [100],
  fresh: [2, 10],
  mass: [1_000],
  idle: [1, 1_000],
  memory: [10_000],
  start: [1],
};
const SPREAD_OVER = 4;
const LEAST_SPREAD = 100;
/** Scenarios for Redis, which has no queue and no sessions. */
const ON_REDIS: readonly Scenario[] = ['free', 'many', 'fresh'];

/**
 * Returns the cells that each round of the benchmark measures on a store, in their order. A cell is a
 * scenario at one size.
 */
export function cellsOf(store: StoreName, medium: Medium, extent: Extent): Cell[] {
  const scenarios = SCENARIOS.filter(
    (scenario) => extent.scenarios.includes(scenario) && (store !== 'redis' || ON_REDIS.includes(scenario)),
  );
  return scenarios.flatMap((scenario) => {
    const cells = sizesOf(scenario, extent).map((size): Cell => ({ store, medium, scenario, size }));
    const noisy = cells.map((cell): Cell => ({ ...cell, noise: true }));
    return scenario === 'fresh' && store !== 'redis' ? [...cells, ...noisy.slice(0, 1)] : cells;
  });
}

function sizesOf(scenario: Scenario, { n, short }: Extent): readonly number[] {
  if (scenario === 'drain') return n;
  if (scenario === 'spread')
    return n.filter((size) => size >= LEAST_SPREAD && size % SPREAD_OVER === 0).slice(0, 2);
  return short ? SIZES[scenario].slice(0, 1) : SIZES[scenario];
}

/** Formats the size of a cell: `256 locks`, `1,000 waiters`. */
export function sizeText({ scenario, size, noise }: Cell): string {
  const number = size.toLocaleString('en');
  const unit = UNITS[scenario];
  const plural = size === 1 ? unit : `${unit}s`;
  return `${unit === 'call' ? `${number} in flight` : `${number} ${plural}`}${noise ? ', with noise' : ''}`;
}

const UNITS: Readonly<Record<Scenario, string>> = {
  call: 'call',
  cold: 'process',
  free: 'lock',
  many: 'lock',
  drain: 'waiter',
  spread: 'waiter',
  sessions: 'waiter',
  'sessions-cold': 'waiter',
  fresh: 'client',
  mass: 'waiter',
  idle: 'held lock',
  memory: 'wait',
  start: 'process',
};
