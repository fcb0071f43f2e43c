// Chapter driver: what is asked of MySQL, and what may it answer?
// The interface (here), npm mysql2 behind it (own-driver, pool-driver), pools that are handed in (check-pool, replies), and what failures
// mean (errors).

/** One connection, as far as it is used. */
export interface Wire {
  /** The rows of one statement, or its header. */
  query(sql: string): Promise<unknown>;
  /** At once; what has no answer yet rejects. */
  destroy(): void;
  /** Back to where it is from; a connection of ours has nowhere to go, and is kept. */
  readonly release?: (() => void) | undefined;
}

/** Opens connections. */
export interface Driver {
  /** Without any secret. */
  readonly endpoint: string;
  /** Tries once. `onEnd`: it is over. `signal`: nobody waits for it any more. */
  open(events: { readonly onEnd: (error: unknown) => void; readonly signal: AbortSignal }): Promise<Wire>;
  /** Says, with numbers, that all connections of a pool are in use; `undefined` when that is not so, or not known. */
  exhaustion?(): string | undefined;
  /** Attempts are at least so far apart also when they succeed, in milliseconds. */
  readonly leastBetweenMs: number;
}
