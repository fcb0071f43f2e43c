import type { Route } from '../services/endpoint.ts';
import type { ServerProgram } from '../services/server-process.ts';
import type { MemberSite } from './network.ts';

/** What a kind of store has to tell so that a cluster of it can be run. */
export interface Store {
  readonly name: 'etcd' | 'ZooKeeper';
  /** The ports that its servers usually have; the first one is for clients. */
  readonly usualPorts: readonly number[];
  readonly isHere: () => Promise<boolean>;
  /** Rejects with NotHere when it cannot. */
  readonly install: () => Promise<void>;
  /** The program of one member of a cluster of these members. */
  readonly program: (site: MemberSite, all: readonly MemberSite[]) => ServerProgram;
  /** What a member itself says about its part. Rejects when it does not answer within 500 ms. */
  readonly view: (whom: Asked) => Promise<View>;
}

/** A running member, as this process reaches it and its data directory. */
export interface Asked {
  readonly route: Route;
  readonly data: string;
}

/** The part that a member believes to have. `none`: it knows no leader. */
export type Role = 'leader' | 'follower' | 'none';

export interface View {
  readonly role: Role;
  /** Grows with each election: etcd's Raft term, ZooKeeper's epoch. */
  readonly term: number;
  /** Which leader it means, where the store says so; equal for all that mean the same. */
  readonly leader?: string;
}

/** How a member is asked by the harness: past every fault of the network. */
export function routeOf({ host, ports, operatorAddress }: MemberSite): Route {
  const route = { host, port: ports[0]! };
  return operatorAddress === undefined ? route : { ...route, localAddress: operatorAddress };
}

/**
 * The member that leads: it says so, a majority of all members is in its term with it, and no such leader has a later
 * term. `views` has undefined for a member that did not answer. A leader of former times stays one in its own eyes for a
 * while, and so it does here as long as nobody else leads a majority.
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
