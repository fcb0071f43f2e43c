// Folder "driver": opens connections to a server, sends statements, and interprets errors.
// driver.ts (this file) declares the interface. pg-driver.ts implements it by npm pg, and postgres-js-driver.ts by postgres.js.
// pool-driver.ts and postgres-js-client.ts use pools and clients of the caller, and check-pool.ts checks pools. replies.ts parses and
// verifies replies. tls.ts computes TLS options. errors.ts interprets errors.

/** Callbacks for the events of a connection, and a signal that aborts the attempt to open it. */
export interface WireEvents {
  /** Called with each notification on a channel that the connection listens to. */
  readonly onMessage: (channel: string, message: string) => void;
  /** Called when the connection has ended. */
  readonly onEnd: (error: unknown) => void;
  /** Aborts when the backend no longer waits for the connection to open. */
  readonly signal: AbortSignal;
}

/** One connection to a server. It does not reconnect: after it has ended, its user opens a new one. */
export interface Wire {
  /** Resolves with the rows of one statement. If the text has several statements, it resolves with no rows. */
  query(text: string, values?: readonly unknown[]): Promise<readonly Record<string, unknown>[]>;
  /**
   * Gives the connection back to its pool, or closes it. Pending statements reject.
   * @param broken whether the connection must not be used again
   */
  release(broken: boolean): void;
}

/** Opens connections to one server. */
export interface Driver {
  /** The server's address without user and password, for messages. */
  readonly endpoint: string;
  /**
   * Whether the connections are from a pool that the application uses too. Unused connections are then
   * returned to that pool.
   */
  readonly isShared: boolean;
  /**
   * Returns a message with the numbers of connections and of waiting requests when all connections of a pool
   * are in use. Returns `undefined` when some are free or the driver cannot find out.
   */
  exhaustion?(): string | undefined;
  /** Makes one attempt to connect to the server. */
  open(events: WireEvents): Promise<Wire>;
}
