// Chapter driver: what is asked of PostgreSQL, and what may it answer?
// The interface (here), npm pg behind it (pg-driver), pools that are handed in (pool-like, check-pool), how replies are read (replies), TLS,
// and what failures mean (errors).

/** What a connection tells. */
export interface WireEvents {
  /** Something was notified on a channel that it listens to. */
  readonly onMessage: (channel: string, message: string) => void;
  /** It is over. */
  readonly onEnd: (error: unknown) => void;
  /** Nobody waits for it any more while it opens. */
  readonly signal: AbortSignal;
}

/** One connection to a server. It is never made anew: whoever holds it opens another one. */
export interface Wire {
  /** Rows of one statement, or of none for several. */
  query(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  /** It is needed no more; `broken`: nobody else may use it either. At once: what has no answer yet rejects. */
  release(broken: boolean): void;
}

/** Opens connections. */
export interface Driver {
  /** Without any secret. */
  readonly endpoint: string;
  /** The application uses its connections as well: those that are not needed are given back. */
  readonly isShared: boolean;
  /** Says, with numbers, that all connections are in use; `undefined` when that is not so, or not known. */
  exhaustion?(): string | undefined;
  /** Tries once. */
  open(events: WireEvents): Promise<Wire>;
}
