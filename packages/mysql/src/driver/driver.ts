// Chapter driver: what is asked of MySQL, and what may it answer?
// The interface (here), npm mysql2 behind it (own-driver, pool-driver), and what failures mean (errors).

/** How a statement is asked for: what is set here does not follow the settings of a pool that was given. */
export interface Asked {
  readonly sql: string;
  readonly rowsAsArray: false;
  readonly typeCast: true;
}

/** A connection of mysql2, as far as it is used. */
export interface Wire {
  query(asked: Asked): Promise<unknown>;
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
  /** Attempts are at least so far apart also when they succeed, in milliseconds. */
  readonly leastBetweenMs: number;
}
