import type { Backend, LockClient, QueueEntry } from '@queuelock/core';
import { until } from '@queuelock/harness/services/until';

/** A store on which scripts are played. */
export interface Store {
  readonly name: string;
  /** TTL of sessions in milliseconds: longer than any stall of a busy machine. */
  readonly ttlMs: number;
  connect(): Backend;
  /**
   * Removes an entry as an operator does, directly in the store. `queue` is the name of the queue in the
   * store.
   */
  removeEntry(queue: string, entry: QueueEntry): Promise<void>;
  /** Ends the session of a lock client as an operator does, directly in the store. */
  endSession(id: string, client: LockClient): Promise<void>;
  stop(): Promise<void>;
  /**
   * How long the holder of an entry that was removed in the store may believe that it holds, in milliseconds.
   * Default 5,000.
   */
  readonly noticedWithinMs?: number;
  /**
   * Matches further ways in which a claim may end on this store when all clients act at the same time. The
   * ways that are correct on every store are not part of it.
   */
  readonly explained?: RegExp;
}

const CHANGED_WITHIN_MS = 10_000;

/** Repeats a change of an operator that may be sent again, for instance after a deadlock or a connection that the server has closed. */
export function forSure<T>(change: () => Promise<T>): Promise<T> {
  return until(change, { what: 'the change of an operator', withinMs: CHANGED_WITHIN_MS });
}
