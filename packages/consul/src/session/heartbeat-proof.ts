/** Largest part of the TTL by which one heartbeat extends the proven time. */
const MAX_EXTENSION = 0.5;

/**
 * Computes for how long the confirmed heartbeats of a session prove that it exists. One heartbeat extends the proven time by at most half the TTL,
 * because a server that is no longer the leader may have confirmed it. The leader keeps the timers of sessions in memory, and does not write a
 * renewal to the log. If a leader is suspended and replaced, it may confirm a renewal before it learns of its replacement. The response does not name
 * the server, and such a confirmation proves nothing.
 *
 * Consul ends a session only twice its TTL after its last renewal by the true leader, also when a new leader has been elected since. The client
 * relies on the session for only one TTL, counted from a time `base`. So `base` must be at most one TTL later than that renewal. Regular heartbeats
 * ensure this, because they are closer together than a TTL. After a gap, one heartbeat extends the proven time only by half the TTL. The next one
 * adds the other half. Between the two, a consistent read has confirmed the session with a quorum.
 * @param earlierMs the time for which earlier heartbeats prove the session, in milliseconds from the call of this heartbeat; negative if it has
 *   passed
 * @returns the time for which the session is proven now, in milliseconds from the same call
 */
export function provenBy(ttlMs: number, earlierMs: number): number {
  return Math.min(ttlMs, Math.max(0, earlierMs + MAX_EXTENSION * ttlMs));
}
