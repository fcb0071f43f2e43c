/**
 * Returns the timeout of one request in milliseconds. It is long enough for a busy server, and short enough for several requests in a
 * session.
 */
export function callTimeoutOf(ttlMs: number): number {
  return Math.min(5_000, Math.max(1_000, ttlMs / 2));
}

/** Returns the timeout of one connection attempt in milliseconds, so that three or four attempts fit into a session. */
export function connectTimeoutOf(ttlMs: number): number {
  return Math.min(3_000, Math.max(1_000, ttlMs / 6));
}
