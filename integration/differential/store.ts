import type { Backend, LockClient, QueueEntry } from '@queuelock/core';

/** A store on which scripts are played. */
export interface Store {
  readonly name: string;
  /** TTL of sessions in milliseconds: longer than any stall of a busy machine. */
  readonly ttlMs: number;
  connect(): Backend;
  /** Removes an entry as an operator does, directly in the store. `queue` is its name in the store. */
  removeEntry(queue: string, entry: QueueEntry): Promise<void>;
  /** Ends the session of this client as an operator does, directly in the store. */
  endSession(id: string, client: LockClient): Promise<void>;
  stop(): Promise<void>;
}
