import type { Route } from '../services/endpoint.ts';
import type { ServerProgram } from '../services/server-process.ts';
import type { MemberSite } from './network.ts';

/**
 * What a cluster needs to know of a kind of store: its ports, its programs, and how members report their
 * roles.
 */
export interface Store {
  readonly name: 'etcd' | 'ZooKeeper';
  /** Default ports of the store's servers; the first one is for clients. */
  readonly usualPorts: readonly number[];
  readonly isHere: () => Promise<boolean>;
  /** Installs the store's programs. Rejects with NotHere when that is not possible. */
  readonly install: () => Promise<void>;
  /** Returns the program of one member of a cluster. */
  readonly program: (site: MemberSite, all: readonly MemberSite[]) => ServerProgram;
  /** Resolves with a member's own view of its role. Rejects when it does not respond within 500 ms. */
  readonly view: (whom: ReachableMember) => Promise<View>;
}

/** How the test process reaches a running member, and the directory of the member's data. */
export interface ReachableMember {
  readonly route: Route;
  readonly data: string;
}

/** Role in the member's own view. `none`: the member knows no leader. */
export type Role = 'leader' | 'follower' | 'none';

export interface View {
  readonly role: Role;
  /** A number that grows with each election: etcd's Raft term, ZooKeeper's epoch. */
  readonly term: number;
  /** Id of the leader that the member follows, if the store reports it. */
  readonly leader?: string;
}

/**
 * Returns the address of a member, and the source address from which the harness sends requests to it. No
 * fault of the network affects these requests.
 */
export function routeOf({ host, ports, operatorAddress }: MemberSite): Route {
  const route = { host, port: ports[0]! };
  return operatorAddress === undefined ? route : { ...route, localAddress: operatorAddress };
}

/**
 * Returns the index of the leading member: it reports that it leads, and a majority of all members reports
 * its term and follows it. If several members meet this rule, the one with the latest term leads. A former
 * leader that was cut off still reports for a while that it leads. If a majority still reports its term, it
 * counts as the leader until another member leads a majority.
 * @param views the view of each member; `undefined` for a member that did not respond
 */
export function leaderOf(views: readonly (View | undefined)[]): number | undefined {
  const isWith = (leader: View, view: View | undefined): boolean =>
    view !== undefined && view.role !== 'none' && view.term === leader.term && view.leader === leader.leader;
  const leaders = views.flatMap((view, index) => {
    if (view?.role !== 'leader') return [];
    const supporters = views.filter((other) => isWith(view, other)).length;
    return supporters > views.length / 2 ? [{ index, term: view.term }] : [];
  });
  return leaders.sort((a, b) => b.term - a.term)[0]?.index;
}
