/**
 * Links between the parties of a cluster, and their faults. A fault applies to a member. This file computes
 * its effect on each link, so that namespaces and proxies apply the same effects.
 */

/** A party of the network: a member or a client. `client-0` is this process. */
export type Node = `member-${number}` | `client-${number}`;

/** The parties at the other end of a member's links: all members, all clients, all of both, or one party. */
export type Peers = 'members' | 'clients' | 'all' | Node;

/**
 * Effect of cutting a link. `silence`: data gets no response and no error, and arrives after the end of the cut if the connection still exists.
 * `reset`: connections break at once and new ones are refused.
 */
export type CutAs = 'silence' | 'reset';

/** Direction as seen from the member: with `in` the member loses what it receives, with `out` what it sends. */
export type Direction = 'both' | 'in' | 'out';

export interface Cut {
  readonly member: Node;
  readonly from: Peers;
  readonly direction: Direction;
  readonly as: CutAs;
}

/** The slowness of all links of one member: added delay, limited rate and lost packets. */
export interface Slowness {
  /** Additional delay of each message in each direction, in milliseconds; a link of two slow members has the sum. */
  readonly delayMs?: number;
  /** Limit on the bytes per second in each direction of a link. */
  readonly bytesPerSecond?: number;
  /** Fraction of the packets on each link that are lost, from 0 to 1. */
  readonly lossRatio?: number;
}

/** A cut of one direction of one link. */
export interface LinkCut {
  readonly from: Node;
  readonly to: Node;
  readonly as: CutAs;
}

/** All faults of the network at one time. */
export interface Weather {
  readonly cuts: readonly LinkCut[];
  readonly slow: readonly (Slowness & { readonly member: Node })[];
}

export const FINE: Weather = { cuts: [], slow: [] };

export const isMember = (node: Node): boolean => node.startsWith('member-');

/**
 * Returns the directions of links that are cut by a list of cuts. Where two cuts affect the same direction,
 * the later cut decides between `silence` and `reset`.
 */
export function linkCuts(nodes: readonly Node[], cuts: readonly Cut[]): LinkCut[] {
  const links = new Map<string, LinkCut>();
  for (const { member, from, direction, as } of cuts) {
    for (const peer of nodes.filter((node) => node !== member && isAmong(from, node))) {
      if (direction !== 'out') links.set(`${peer}>${member}`, { from: peer, to: member, as });
      if (direction !== 'in') links.set(`${member}>${peer}`, { from: member, to: peer, as });
    }
  }
  return [...links.values()];
}

function isAmong(peers: Peers, node: Node): boolean {
  if (peers === 'all') return true;
  if (peers === 'members') return isMember(node);
  if (peers === 'clients') return !isMember(node);
  return peers === node;
}
