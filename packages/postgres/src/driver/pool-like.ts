/** The part of a pool of npm pg that `postgres()` uses. */
export interface PgPoolLike {
  /** Resolves with a connection for exclusive use until it is released. */
  connect(): Promise<PgClientLike>;
  readonly options?: object;
}

/** The part of a pool's connection that `postgres()` uses. */
export interface PgClientLike extends PgQueryable {
  /** Gives the connection back to the pool. With `true` or an error, the pool closes it. */
  release(broken?: Error | boolean): void;
}

/** One statement, with the parsers of its columns. */
export interface Statement {
  readonly text: string;
  readonly values?: unknown[];
  readonly types: {
    /** Returns the parser for a column, by the object id (OID) of the column's type. */
    getTypeParser(oid: number): (text: string) => unknown;
  };
}

/** The methods of a connection of npm pg that `postgres()` uses. */
export interface PgQueryable {
  /** Sends one statement on the connection. */
  query(statement: Statement): Promise<{ readonly rows?: readonly Record<string, unknown>[] }>;
  /** Adds a listener for the event `notification`, `error` or `end`. */
  on(event: string, listener: (value: unknown) => void): unknown;
  /** Removes a listener that `on` has added. */
  removeListener(event: string, listener: (value: unknown) => void): unknown;
}
