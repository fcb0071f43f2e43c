import { LONE_STORE_NAMES, type LoneStoreName } from './lone-stores.ts';
import { STORES, type StoreName } from './profiles.ts';
import type { Rule } from './worker-command.ts';

/**
 * A store that `pnpm chaos` can run. etcd and ZooKeeper have three servers and a schedule of faults. All
 * other stores are tested in rounds, each of which makes every fault once. Consul has three servers or one,
 * SQLite has none, and the others have one.
 */
export type ChaosStore = StoreName | RoundsStore;

/** A store whose faults are made in rounds: each round makes every fault once. */
export type RoundsStore = LoneStoreName | 'consul-cluster' | 'sqlite';

const ROUNDS_STORES: readonly RoundsStore[] = [...LONE_STORE_NAMES, 'consul-cluster', 'sqlite'];
export const CHAOS_STORES: readonly ChaosStore[] = [...STORES, ...ROUNDS_STORES];

/**
 * Returns the rules by which a worker may decide how long it holds. The first one is queuelock's own. The
 * weaker ones are for controls, in which the checker must find violations.
 */
export function rulesOf(store: ChaosStore): readonly Rule[] {
  if (store === 'etcd') return ['product', 'plain', 'overlong'];
  return store === 'zookeeper' ? ['product', 'connected', 'newest', 'overlong'] : ['product', 'overlong'];
}

export function hasSchedule(store: ChaosStore): store is StoreName {
  return STORES.some((name) => name === store);
}
