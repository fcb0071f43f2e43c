import type { Cluster, Command } from './cluster.ts';

/**
 * Executes a command on the simulated etcd cluster exactly once, as soon as the cluster can. Retries when
 * members crash or the leader changes.
 */
export function certainly(cluster: Cluster, command: Command): void {
  let isDone = false;
  const once: Command = (store) => {
    if (isDone) return { revision: store.keyspace.revision, body: {} };
    isDone = true;
    return command(store);
  };
  const attempt = (): void => {
    const member = cluster.terms.leader ?? cluster.members[0];
    if (member?.isUp) cluster.propose(member, once, () => undefined);
    cluster.later(AGAIN_MS, () => {
      if (!isDone) attempt();
    });
  };
  attempt();
}

const AGAIN_MS = 500;
