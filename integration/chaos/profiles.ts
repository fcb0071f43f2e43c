import { etcdUrl } from '@queuelock/harness/services/etcd-transport';

/** The kind of store on which an experiment runs. */
export type StoreName = 'etcd' | 'zookeeper';

export const STORES: readonly StoreName[] = ['etcd', 'zookeeper'];

/**
 * The timing of the servers. With `fast` they use the shortest times that leave the tests some margin, and
 * with `default` their default settings.
 */
export type Profile = 'fast' | 'default';

/** Times of one experiment, in milliseconds. */
export interface Timing {
  readonly ttlMs: number;
  readonly safetyMarginMs: number;
  /**
   * Longest time from the end of a dead session's TTL until its entries are removed, if the leader survives.
   */
  readonly expiryMs: number;
  /**
   * Longest time from the death of a holder until its entries are removed, if the leader of the servers is
   * lost at the same time.
   */
  readonly withLeaderLossMs: number;
}

export const ZOOKEEPER_TIMING = {
  fast: { tickMs: 500, syncLimit: 5, ttlMs: 4_000, quickTtlMs: 3_500 },
  default: { tickMs: 2_000, syncLimit: 5, ttlMs: 15_000, quickTtlMs: 14_000 },
} as const;

// Shortest TTL in milliseconds that an etcd server with the default election timeout grants.
const QUICK_ETCD_TTL_MS = 2_000;
const ETCD_TTL_MS = { fast: 5_000, default: 10_000 } as const;

const LONE_TTL_MS = 3_000;

/** The times on a store with a single server or file, as short as works reliably on a busy machine. */
export const LONE_TIMING: Timing = {
  ttlMs: LONE_TTL_MS,
  safetyMarginMs: 200,
  expiryMs: 1_000,
  withLeaderLossMs: 2 * LONE_TTL_MS + 5_000,
};

/**
 * Returns the times for a store and a profile.
 * @param quickTtl whether to use the shortest allowed TTL, for faults that last as long as the TTL
 */
export function timingOf(store: StoreName, profile: Profile, quickTtl: boolean): Timing {
  if (store === 'etcd') {
    const ttlMs = quickTtl ? QUICK_ETCD_TTL_MS : ETCD_TTL_MS[profile];
    return { ttlMs, safetyMarginMs: marginOf(ttlMs), expiryMs: 1_000, withLeaderLossMs: ttlMs + 5_000 };
  }
  const zooKeeper = ZOOKEEPER_TIMING[profile];
  const ttlMs = quickTtl ? zooKeeper.quickTtlMs : zooKeeper.ttlMs;
  const expiryMs = 2 * zooKeeper.tickMs + 500;
  return { ttlMs, safetyMarginMs: marginOf(ttlMs), expiryMs, withLeaderLossMs: 2 * ttlMs + 5_000 };
}

/** Returns the URL of the backend for a cluster, from the addresses of its members. */
export function urlOf(store: StoreName, profile: Profile, endpoints: readonly string[]): string {
  if (store === 'etcd') return etcdUrl(endpoints.join(','));
  const { tickMs, syncLimit } = ZOOKEEPER_TIMING[profile];
  return `zk://${endpoints.join(',')}?tickTimeMs=${tickMs}&syncLimit=${syncLimit}`;
}

// Returns the safety margin in milliseconds that the core uses by default for a TTL.
function marginOf(ttlMs: number): number {
  return Math.max(200, ttlMs / 50);
}
