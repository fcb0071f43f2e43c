import type { Cluster, Member } from '@queuelock/harness/clusters';
import type { FaultKind } from './faults-menu.ts';

const PAUSES: ReadonlySet<FaultKind> = new Set(['leader frozen', 'member frozen']);
// The first patch releases of etcd 3.4 and 3.5 whose leaders end no live sessions after a pause; later minor
// releases never did: https://github.com/etcd-io/etcd/issues/15247
const FIRST_SOUND_PATCH: Readonly<Record<string, number>> = { '3.4': 31, '3.5': 13 };

/** Returns whether a leader of this cluster that was paused and replaced may end sessions that are still renewed. */
export function mayEndLiveSessions({ name, version }: Pick<Cluster, 'name' | 'version'>): boolean {
  const [, minor = '', patch = ''] = /^(\d+\.\d+)\.(\d+)/.exec(version) ?? [];
  const first = FIRST_SOUND_PATCH[minor];
  return name === 'etcd' && first !== undefined && Number(patch) < first;
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
