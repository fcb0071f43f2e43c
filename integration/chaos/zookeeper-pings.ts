import type { Member } from '@queuelock/harness/clusters';
import { ZooKeeperWire } from '@queuelock/harness/clusters/zookeeper-wire';
import { zkFourLetter } from '@queuelock/harness/services';

/** Returns the time of the machine's monotonic clock in milliseconds. The servers use the same clock. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/**
 * The times at which a ZooKeeper leader learns of its follower's sessions: in the response to its ping, every
 * half tick. A heartbeat between two pings counts from the earlier one. The leader ends the session a TTL
 * after that ping, rounded up to the next whole tick.
 */
export class Pings {
  readonly #seenAt: number;
  readonly #tickMs: number;

  /**
   * Creates the times of all pings, which are half a tick apart, from the time of one ping.
   * @param seenAt the time of a ping in milliseconds
   */
  constructor(seenAt: number, tickMs: number) {
    this.#seenAt = seenAt;
    this.#tickMs = tickMs;
  }

  /**
   * Returns the shortest TTL of at least `leastMs` that shows whether a heartbeat counts from a ping or from
   * its send time. A session ends at the leader's next tick. For a heartbeat sent more than `afterMs` after a
   * ping, that tick is one tick earlier if the heartbeat counts from the ping.
   */
  trickyTtl(leastMs: number, afterMs: number): number {
    const halfTick = this.#tickMs / 2;
    return leastMs + Math.round(remainder(-(this.#seenAt + afterMs + leastMs), halfTick));
  }

  /**
   * Returns the time of a ping at least `inMs` from now, for a heartbeat that is sent `afterMs` later. The
   * TTL of that heartbeat, counted from its send time, ends exactly on a tick of the leader's clock.
   */
  trap(ttlMs: number, afterMs: number, inMs: number): number {
    const earliest = nowMs() + inMs;
    const phase = remainder(-(ttlMs + afterMs), this.#tickMs);
    return earliest + remainder(phase - earliest, this.#tickMs);
  }
}

/**
 * Returns the times of all pings, derived from the time of one. Extends a session on the follower repeatedly
 * until the leader's list of sessions shows a later end for this session. At that moment the follower has
 * just responded to a ping.
 */
export async function observePings(leader: Member, follower: Member, tickMs: number): Promise<Pings> {
  return ZooKeeperWire.during(follower.endpoint, async (wire) => {
    const first = await endInBook(wire, leader);
    // Reads without a delay in between, in order to measure exactly when the end of the session in the
    // leader's list changes.
    while ((await endInBook(wire, leader)) - first < tickMs / 2);
    return new Pings(nowMs(), tickMs);
  });
}

/**
 * Sends a request over the connection, which extends the connection's session. Resolves with the time at
 * which the leader will end that session.
 */
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
