/** The times of the last messages of a connection, on one clock in milliseconds. */
export interface Traffic {
  readonly receivedAt: number;
  readonly sentAt: number;
}

/** What to do next for a connection: wait for `ms` milliseconds, send a ping, or close the connection. */
export type Need =
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'ping' }
  | { readonly type: 'end' };

/**
 * Returns what to do next for a connection. It needs a ping when the client has sent nothing on it for a third of the session timeout. It is dead
 * when the client has received nothing for two thirds; the last third remains to find another server.
 */
export function needOf({ receivedAt, sentAt }: Traffic, now: number, timeoutMs: number): Need {
  const third = timeoutMs / 3;
  const deadAt = receivedAt + 2 * third;
  const pingAt = sentAt + third;
  if (now >= deadAt) return { type: 'end' };
  if (now >= pingAt) return { type: 'ping' };
  return { type: 'wait', ms: Math.min(deadAt, pingAt) - now };
}
