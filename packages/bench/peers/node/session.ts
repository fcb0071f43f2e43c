/** TTL of every session in milliseconds. It is long, so that heartbeats do not affect the results. */
export const SESSION_MS = 60_000;
