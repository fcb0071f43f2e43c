import { LONE_STORE_NAMES, type LoneStoreName } from './lone-stores.ts';
import { STORES, type StoreName } from './profiles.ts';
import type { Rule } from './worker-command.ts';

/**
 * A store that `pnpm chaos` can run. etcd and ZooKeeper have three servers and a schedule of faults. The
 * others get rounds, each with all of their faults: three servers of Consul, or a single server.
 */
export type ChaosStore = StoreName | RoundsStore;

/** A store whose faults come in rounds. */
export type RoundsStore = LoneStoreName | 'consul-cluster';

const ROUNDS_STORES: readonly RoundsStore[] = [...LONE_STORE_NAMES, 'consul-cluster'];
export const CHAOS_STORES: readonly ChaosStore[] = [...STORES, ...ROUNDS_STORES];

/**
 * Returns the rules that decide how long a worker believes that it holds: queuelock's own rule first, then
 * the weaker rules of controls.
 */
export function rulesOf(store: ChaosStore): readonly Rule[] {
  if (store === 'etcd') return ['product', 'plain', 'overlong'];
  return store === 'zookeeper' ? ['product', 'connected', 'newest', 'overlong'] : ['product', 'overlong'];
}

export function hasSchedule(store: ChaosStore): store is StoreName {
  return STORES.some((name) => name === store);
}
