/** Returns whether bytes from a client to a server contain a certain request. */
export type IsRequest = (chunk: Buffer) => boolean;

/** Recognises the requests of queuelock in the data to the store. */
export interface Wire {
  /** Matches the opening of a session. */
  readonly opens: IsRequest;
  /** Matches the end of a session. */
  readonly closes: IsRequest;
  /** Matches an enqueue of this queue. */
  enters(queue: string): IsRequest;
  /** Matches the removal of the entry with this key. */
  leaves(key: string): IsRequest;
  /** Matches a heartbeat of this session. */
  heartbeats(session: string): IsRequest;
}
