/** Largest part of the TTL by which one heartbeat extends the proven time. */
const MAX_EXTENSION = 0.5;

/**
 * Computes for how long the confirmed heartbeats of a session prove that it exists. The leader keeps the timers of sessions in memory, and does not
 * write a renewal to the log. Assume that a leader is suspended and replaced. It may confirm a renewal before it learns of its replacement, and the
 * response does not name the server. Such a confirmation proves nothing, but the rule below makes it harmless. Consul ends a session only twice its
 * TTL after a renewal, and a new leader starts with twice the TTL again. So a session whose last renewal by the true leader was sent at `t` lives
 * until `t + 2 * TTL`. The client counts the TTL from a time `base`, so it relies on the session until `base + TTL`. That is correct as long as `base`
 * is at most `t + TTL`. Regular heartbeats keep this rule, because they are closer together. After a gap, one heartbeat extends the proven time only
 * by half the TTL. The next one adds the other half; before it, a consistent read has confirmed the session with a quorum.
 * @param earlierMs the time for which earlier heartbeats prove the session, in milliseconds from the call of this heartbeat; negative if it has passed
 * @returns the time for which it is proven now, in milliseconds from the same call
 */
export function provenBy(ttlMs: number, earlierMs: number): number {
  return Math.min(ttlMs, Math.max(0, earlierMs + MAX_EXTENSION * ttlMs));
}
