/** Returns the timeout of one request in milliseconds: half of the TTL, from 1 s (for a busy server) to 5 s. */
export function callTimeoutOf(ttlMs: number): number {
  return Math.min(5_000, Math.max(1_000, ttlMs / 2));
}

/** Returns the timeout of one connection attempt in milliseconds, so that three or four attempts fit into a session. */
export function connectTimeoutOf(ttlMs: number): number {
  return Math.min(3_000, Math.max(1_000, ttlMs / 6));
}
