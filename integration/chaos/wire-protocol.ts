/** Returns whether bytes from a client to a server contain a certain request. */
export type IsRequest = (chunk: Buffer) => boolean;

/** Recognises the requests of queuelock in the data to the store. */
export interface Wire {
  /** Matches a request that opens a session. */
  readonly opens: IsRequest;
  /** Matches a request that ends a session. */
  readonly closes: IsRequest;
  /** Matches a request that adds an entry to the queue. */
  enters(queue: string): IsRequest;
  /** Matches a request that removes the entry with the given key. */
  leaves(key: string): IsRequest;
  /** Matches a heartbeat of the session with the given id. */
  heartbeats(session: string): IsRequest;
}
