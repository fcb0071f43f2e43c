import type { Member } from '@queuelock/harness/clusters';
import { ZooKeeperWire } from '@queuelock/harness/clusters/zookeeper-wire';
import { zkFourLetter } from '@queuelock/harness/services';

/** Returns milliseconds of the machine's monotonic clock, which the servers also use. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/**
 * Times at which a leader learns of a follower's sessions: in the response to its ping, every half tick. What a session does in
 * between counts from the ping before, and ends `ttlMs` after that, rounded up to the next whole tick of the clock.
 */
export class Pings {
  readonly #seenAt: number;
  readonly #tickMs: number;

  /** @param seenAt Time of a ping. */
  constructor(seenAt: number, tickMs: number) {
    this.#seenAt = seenAt;
    this.#tickMs = tickMs;
  }

  /**
   * Returns the shortest TTL, from `leastMs` on, for which the rounding changes `afterMs` after a ping: a later heartbeat in that
   * half tick seems to count for a tick more than it does.
   */
  trickyTtl(leastMs: number, afterMs: number): number {
    const halfTick = this.#tickMs / 2;
    return leastMs + Math.round(remainder(-(this.#seenAt + afterMs + leastMs), halfTick));
  }

  /** Returns the next ping, at least `inMs` from now, after which this effect occurs for sessions of this length. */
  trap(ttlMs: number, afterMs: number, inMs: number): number {
    const earliest = nowMs() + inMs;
    const phase = remainder(-(ttlMs + afterMs), this.#tickMs);
    return earliest + remainder(phase - earliest, this.#tickMs);
  }
}

/** Watches the leader's list of sessions until the end of one of ours is postponed, which is when a ping was answered. */
export async function observePings(leader: Member, follower: Member, tickMs: number): Promise<Pings> {
  return ZooKeeperWire.during(follower.endpoint, async (wire) => {
    const first = await endInBook(wire, leader);
    // Without a pause, because the moment of the change is measured.
    while ((await endInBook(wire, leader)) - first < tickMs / 2);
    return new Pings(nowMs(), tickMs);
  });
}

/** Returns when the leader will end the session of this connection, after it was used. */
async function endInBook(wire: ZooKeeperWire, leader: Member): Promise<number> {
  await wire.read('/zookeeper');
  const dump = await zkFourLetter(leader.endpoint, 'dump');
  const ends = dump.matchAll(/expire at ([^\n]*):\n((?:\t0x[^\n]*\n)+)/g);
  for (const [, end = '', sessions = ''] of ends)
    if (sessions.includes(wire.sessionId)) return Date.parse(end);
  throw new Error(`the leader does not know session ${wire.sessionId}`);
}

function remainder(value: number, modulus: number): number {
  return ((value % modulus) + modulus) % modulus;
}
