import { leftOfTtl } from '@queuelock/core/backend';

/** The share of the TTL by which one heartbeat may extend the proven time. */
const MAX_EXTENSION = 0.5;

/**
 * Computes what the heartbeats of a session prove.
 *
 * The timers of sessions run on the leader, and a renewal is not written to the log. A leader that was suspended and replaced may confirm a renewal
 * before it learns that it was replaced, and the response does not say which server gave it. Such a confirmation is harmless, because Consul ends a
 * session twice its TTL after a renewal, and a new leader begins with twice the TTL again. So a session of which the last genuine renewal was sent at
 * `t` lives until `t + 2 * TTL`, and the client may rely on `base + TTL` as long as `base` is at most `t + TTL`. Regular heartbeats are closer
 * together than that. After a gap, one confirmation extends the proven time by half the TTL only; the next one, after a consistent read that a quorum
 * has confirmed, by the other half.
 */
export class HeartbeatProof {
  readonly #ttlMs: number;
  #base: number;

  /** @param openedAt when the request was sent that opened the session, or took it over */
  constructor(ttlMs: number, openedAt: number) {
    this.#ttlMs = ttlMs;
    this.#base = openedAt;
  }

  /**
   * Records a heartbeat that was confirmed, and whose session a consistent read has found afterwards.
   * @param sentAt when the heartbeat was sent
   * @returns how long the session lives at least, in milliseconds from `sentAt`
   */
  confirmed(sentAt: number): number {
    this.#base = Math.min(sentAt, this.#base + MAX_EXTENSION * this.#ttlMs);
    return leftOfTtl(this.#ttlMs, sentAt - this.#base);
  }
}
