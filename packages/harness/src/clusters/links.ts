/**
 * Links between the parties of a cluster, and their faults. A fault applies to a member. This file computes
 * its effect on each link, so that both kinds of network apply the same effects.
 */

/** A party of the network. `client-0` is this process. */
export type Node = `member-${number}` | `client-${number}`;

/** The parties at the other ends of a member's links. */
export type Peers = 'members' | 'clients' | 'all' | Node;

/**
 * Effect of a cut. `silence`: data gets no response and no error, and arrives after the heal if the connection still exists.
 * `reset`: connections break at once and new ones are refused.
 */
export type CutAs = 'silence' | 'reset';

/** Direction as seen from the member: `in` loses what it receives, `out` what it sends. */
export type Direction = 'both' | 'in' | 'out';

export interface Cut {
  readonly member: Node;
  readonly from: Peers;
  readonly direction: Direction;
  readonly as: CutAs;
}

/** Slowness of all links of one member. */
export interface Slowness {
  /** Additional delay of each message in each direction, in milliseconds; a link of two slow members has the sum. */
  readonly delayMs?: number;
  /** Bytes per second in each direction. */
  readonly bytesPerSecond?: number;
  /** Fraction of packets that are lost, from 0 to 1. */
  readonly lossRatio?: number;
}

/** One direction of one link that is cut. */
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

/** Returns the directions that these cuts affect; where two overlap, the later one decides the effect. */
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
