import type { Cluster, Member } from '@queuelock/harness/clusters';
import type { FaultKind } from './faults-menu.ts';

const PAUSES: ReadonlySet<FaultKind> = new Set(['leader frozen', 'member frozen']);

/**
 * Returns the member that a fault strikes. It is the drawn member, but never a leader of etcd that the fault would
 * pause. A leader that was paused and replaced may end sessions that are still renewed
 * (https://github.com/etcd-io/etcd/issues/15247). The releases 3.4.34, 3.5.16 and 3.6.0 and later ones check for that,
 * but may skip the check after a pause. No client is safe from that, so the run would show nothing about clients.
 */
export async function struckMember(cluster: Cluster, kind: FaultKind, drawn: Member): Promise<Member> {
  if (!PAUSES.has(kind) || cluster.name !== 'etcd') return drawn;
  const leader = await cluster.leader();
  return drawn === leader ? cluster.others(leader)[0]! : drawn;
}
