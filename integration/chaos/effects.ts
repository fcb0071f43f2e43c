import { parseBackendUrl } from '@queuelock/core/backend';
import type { Effect, EffectTarget, Outcome } from './effect.ts';
import { etcdEffects } from './effects-etcd.ts';
import { logEffects } from './effects-log.ts';
import { sqlEffects } from './effects-sql.ts';
import { zooKeeperEffects } from './effects-zookeeper.ts';
import type { Resource } from '@queuelock/harness/check/event';
import type { WorkerSetup } from './worker-command.ts';

/**
 * All resources that a worker writes to while it holds a lock: data in the store itself, a SQLite file, and a
 * log file.
 */
export class Effects {
  readonly #targets: ReadonlyMap<Resource, EffectTarget>;
  readonly #underWay = new Set<Promise<Outcome>>();

  constructor(targets: ReadonlyMap<Resource, EffectTarget>) {
    this.#targets = targets;
  }

  get resources(): readonly Resource[] {
    return [...this.#targets.keys()];
  }

  async send(resource: Resource, effect: Effect): Promise<Outcome> {
    const target = this.#targets.get(resource);
    if (!target) throw new TypeError(`resource: "${resource}" is not set up for this worker`);
    const sent = target.send(effect);
    this.#underWay.add(sent);
    return sent.finally(() => this.#underWay.delete(sent));
  }

  /** Closes the resources after all writes in flight have settled. */
  async close(): Promise<void> {
    await Promise.all(this.#underWay);
    for (const target of this.#targets.values()) target.close();
  }
}

/** Opens the worker's own connections to its resources, separate from the lock client's. */
export function openEffects({ id, url, resources }: WorkerSetup): Effects {
  const targets = new Map<Resource, EffectTarget>();
  const { store, sql, log } = resources;
  if (store !== undefined) {
    const { scheme, hosts } = parseBackendUrl(url);
    const open = scheme === 'zk' ? zooKeeperEffects : etcdEffects;
    targets.set('store', open(hosts, store));
  }
  if (sql !== undefined) targets.set('sql', sqlEffects(sql));
  if (log !== undefined) targets.set('log', logEffects(id, log));
  return new Effects(targets);
}
