/** How long one call waits for the server, in milliseconds: enough for a busy one, short enough that several fit into a session. */
export function callTimeoutOf(ttlMs: number): number {
  return Math.min(5_000, Math.max(1_000, ttlMs / 2));
}

/** How long one attempt to connect may take, in milliseconds: so that three or four fit into a session. */
export function attemptMsOf(ttlMs: number): number {
  return Math.min(3_000, Math.max(1_000, ttlMs / 6));
}
