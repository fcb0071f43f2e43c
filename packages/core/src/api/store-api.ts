import type { QueueEntry } from './queue-api.ts';
import type { ListedQueue } from './store-facts.ts';

/** The queues of a store, as they were last read. */
export interface QueuesState {
  /** `connecting` until the first response. `stale` while the server is unreachable; `queues` are then the last known. */
  readonly status: 'connecting' | 'live' | 'stale';
  /** The queues, sorted by name. */
  readonly queues: readonly ListedQueue[];
  /** Reason for which the last read failed. Set while the status is not `live`. */
  readonly error?: unknown;
}

/** One event in a queue's past. */
export interface QueueChange {
  /** The store's revision of the change; see `PastChange`. */
  readonly revision: bigint;
  /** Kind of the event. `granted`: the queue's rule admitted the entry. Its client may have noticed later. */
  readonly kind: 'joined' | 'granted' | 'changed' | 'left';
  /** The entry as it was after the event. For the kind `left`: as it was before it left the queue. */
  readonly entry: QueueEntry;
  /** Whether the entry was admitted before the event. Always true for the kind `granted`. */
  readonly held: boolean;
}

/**
 * The past of a queue as the store has kept it: the order of events, without times, because stores keep none.
 */
export interface QueueHistory {
  readonly name: string;
  /** All entries of the queue in order, before the first change. */
  readonly before: readonly QueueEntry[];
  /** The changes of the queue, earliest first. */
  readonly changes: readonly QueueChange[];
  /** Missing parts of the history, one human-readable sentence each. */
  readonly gaps: readonly string[];
}
