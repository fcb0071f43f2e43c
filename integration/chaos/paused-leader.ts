// The version table of etcd is imported by path, because the package does not export it.
// eslint-disable-next-line no-restricted-imports
import { soundLeasesSince } from '../../packages/etcd/src/server/read-trust.ts';
import type { Cluster, Member } from '@queuelock/harness/clusters';
import type { FaultKind } from './faults-menu.ts';

const PAUSES: ReadonlySet<FaultKind> = new Set(['leader frozen', 'member frozen']);

/**
 * Returns whether a leader of this cluster that was paused and replaced may end sessions that are still renewed.
 * Some releases of etcd have this bug: https://github.com/etcd-io/etcd/issues/15247
 */
export function mayEndLiveSessions({ name, version }: Pick<Cluster, 'name' | 'version'>): boolean {
  return name === 'etcd' && soundLeasesSince(version) !== undefined;
}

/**
 * Returns the member that a fault strikes. It is the drawn member, but never a leader that the fault would
 * pause, if the leader could then end live sessions: no client is safe from that, so the run would show
 * nothing about clients.
 */
export async function struckMember(cluster: Cluster, kind: FaultKind, drawn: Member): Promise<Member> {
  if (!PAUSES.has(kind) || !mayEndLiveSessions(cluster)) return drawn;
  const leader = await cluster.leader();
  return drawn === leader ? cluster.others(leader)[0]! : drawn;
}
