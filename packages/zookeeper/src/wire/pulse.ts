/** When something went over a connection last, on one clock in milliseconds. */
export interface Traffic {
  readonly heardAt: number;
  readonly sentAt: number;
}

/** What a connection needs now: a wait of so long, a ping, or its end. */
export type Need =
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'ping' }
  | { readonly type: 'end' };

/**
 * A connection on which nothing was sent for a third of the session's timeout needs a ping; one on which nothing was heard
 * for two thirds is dead, and the last third is there to find another server.
 */
export function needOf({ heardAt, sentAt }: Traffic, now: number, timeoutMs: number): Need {
  const third = timeoutMs / 3;
  const deadAt = heardAt + 2 * third;
  const pingAt = sentAt + third;
  if (now >= deadAt) return { type: 'end' };
  if (now >= pingAt) return { type: 'ping' };
  return { type: 'wait', ms: Math.min(deadAt, pingAt) - now };
}
