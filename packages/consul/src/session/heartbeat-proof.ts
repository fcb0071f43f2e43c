import { leftOfTtl } from '@queuelock/core/backend';

/** Largest part of the TTL by which one heartbeat extends the proven time. */
const MAX_EXTENSION = 0.5;

/**
 * Computes for how long the confirmed heartbeats of a session prove that it exists. The leader keeps the timers of sessions in memory, and does not
 * write a renewal to the log. Assume that a leader is suspended and replaced. It may confirm a renewal before it learns of its replacement, and the
 * response does not name the server. Such a confirmation proves nothing, but the rule below makes it harmless. Consul ends a session only twice its
 * TTL after a renewal, and a new leader starts with twice the TTL again. So a session whose last renewal by the true leader was sent at `t` lives
 * until `t + 2 * TTL`. The client counts the TTL from a time `base`, so it relies on the session until `base + TTL`. That is correct as long as
 * `base` is at most `t + TTL`. Regular heartbeats keep this rule, because the time between two of them is shorter than the TTL. After a gap, one
 * heartbeat extends the proven time only by half the TTL. The next one adds the other half; before it, a consistent read has confirmed the session
 * with a quorum.
 */
export class HeartbeatProof {
  readonly #ttlMs: number;
  #base: number;

  /** @param openedAt the time at which the request was sent that opened the session or took it over */
  constructor(ttlMs: number, openedAt: number) {
    this.#ttlMs = ttlMs;
    this.#base = openedAt;
  }

  /**
   * Records a heartbeat that was confirmed, and after which a consistent read has found the session.
   * @param sentAt the time at which the heartbeat was sent
   * @returns the time for which the session is proven to live, in milliseconds from `sentAt`
   */
  confirmed(sentAt: number): number {
    this.#base = Math.min(sentAt, this.#base + MAX_EXTENSION * this.#ttlMs);
    return leftOfTtl(this.#ttlMs, sentAt - this.#base);
  }
}
