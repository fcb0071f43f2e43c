import { etcdUrl } from '@queuelock/harness/services/etcd-transport';

/** Which store an experiment runs against. */
export type StoreName = 'etcd' | 'zookeeper';

export const STORES: readonly StoreName[] = ['etcd', 'zookeeper'];

/**
 * How fast everything goes. `fast`: the shortest times at which the promises of both stores hold with room; `default`:
 * those of servers as they come.
 */
export type Profile = 'fast' | 'default';

/** The times of one experiment, in milliseconds. */
export interface Timing {
  readonly ttlMs: number;
  readonly safetyMarginMs: number;
  /** How much later than its TTL a dead session's entries may be gone while the leader stays. */
  readonly expiryMs: number;
  /** In the same way, when the leader is lost, too: from the death of the holder on. */
  readonly withLeaderLossMs: number;
}

export const ZOOKEEPER_TIMING = {
  fast: { tickMs: 500, syncLimit: 5, ttlMs: 4_000, quickTtlMs: 3_500 },
  default: { tickMs: 2_000, syncLimit: 5, ttlMs: 15_000, quickTtlMs: 14_000 },
} as const;

// The shortest that a server with the default election timeout grants.
const QUICK_ETCD_TTL_MS = 2_000;
const ETCD_TTL_MS = { fast: 5_000, default: 10_000 } as const;

/** @param quickTtl the shortest TTL that is allowed, for faults that last as long as it does */
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

/** The backend's URL for whoever calls the members by these names. */
export function urlOf(store: StoreName, profile: Profile, endpoints: readonly string[]): string {
  if (store === 'etcd') return etcdUrl(endpoints.join(','));
  const { tickMs, syncLimit } = ZOOKEEPER_TIMING[profile];
  return `zk://${endpoints.join(',')}?tickTimeMs=${tickMs}&syncLimit=${syncLimit}`;
}

// The default of the core.
function marginOf(ttlMs: number): number {
  return Math.max(200, ttlMs / 50);
}
