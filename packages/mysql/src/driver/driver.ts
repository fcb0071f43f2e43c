// Folder "driver": opens connections to a server, sends statements, and interprets errors.
// driver.ts (this file) declares the interface. own-driver.ts implements it by npm mysql2, mariadb-driver.ts by npm mariadb, and
// pool-driver.ts by a pool of the caller. check-pool.ts and replies.ts check that pool. errors.ts interprets errors.

/** One connection to a server. */
export interface Wire {
  /** Resolves with the rows of one statement, or with its header if it returns none. */
  query(sql: string): Promise<unknown>;
  /** Closes the connection at once. Pending statements reject. */
  destroy(): void;
  /**
   * Gives the connection back to its pool. Absent on connections that the backend opened itself, because the
   * backend keeps those connections.
   */
  readonly release?: (() => void) | undefined;
}

/** Opens connections to one server. */
export interface Driver {
  /** The server's address without user and password, for messages. */
  readonly endpoint: string;
  /**
   * Makes one attempt to connect. `signal` aborts when the backend no longer waits for the connection.
   * @param onEnd called when the connection has ended
   */
  open(events: { readonly onEnd: (error: unknown) => void; readonly signal: AbortSignal }): Promise<Wire>;
  /**
   * Returns a message with the numbers of connections and of waiting requests when all connections of a pool
   * are in use. Returns `undefined` when some are free or the driver cannot find out.
   */
  exhaustion?(): string | undefined;
  /** Minimum time between two attempts to connect, even while they succeed, in milliseconds. */
  readonly leastBetweenMs: number;
}
