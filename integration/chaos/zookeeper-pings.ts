import type { Member } from '@queuelock/harness/clusters';
import { ZooKeeperWire } from '@queuelock/harness/clusters/zookeeper-wire';
import { zkFourLetter } from '@queuelock/harness/services';

/** Milliseconds of the machine's monotonic clock, which is also the one of the servers. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/**
 * When a leader hears from a follower of the sessions there: with the answer to its ping, every half tick. What a session does
 * in between counts from the ping before, and ends `ttlMs` after that, rounded up to the next whole tick of the clock.
 */
export class Pings {
  readonly #seenAt: number;
  readonly #tickMs: number;

  /** @param seenAt when there was one */
  constructor(seenAt: number, tickMs: number) {
    this.#seenAt = seenAt;
    this.#tickMs = tickMs;
  }

  /**
   * The shortest time to live, from `leastMs` on, for which the rounding changes `afterMs` after a ping: what was done later in
   * that half tick seems to be good for a tick more than it is.
   */
  trickyTtl(leastMs: number, afterMs: number): number {
    const halfTick = this.#tickMs / 2;
    return leastMs + Math.round(remainder(-(this.#seenAt + afterMs + leastMs), halfTick));
  }

  /** The next ping, at least `inMs` from now, that the trap for sessions of this length opens after. */
  trap(ttlMs: number, afterMs: number, inMs: number): number {
    const earliest = nowMs() + inMs;
    const phase = remainder(-(ttlMs + afterMs), this.#tickMs);
    return earliest + remainder(phase - earliest, this.#tickMs);
  }
}

/** Watches the leader's book of sessions until the end of one of ours is put off, which is when a ping was answered. */
export async function observePings(leader: Member, follower: Member, tickMs: number): Promise<Pings> {
  return ZooKeeperWire.during(follower.endpoint, async (wire) => {
    const first = await endInBook(wire, leader);
    // Without a pause: what is measured is when it changes.
    while ((await endInBook(wire, leader)) - first < tickMs / 2);
    return new Pings(nowMs(), tickMs);
  });
}

/** When the leader means to end the session behind this connection, which does something first. */
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
