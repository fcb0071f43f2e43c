/** TTL of every session in milliseconds, long so that heartbeats do not count. */
export const SESSION_MS = 60_000;
