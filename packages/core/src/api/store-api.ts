import type { QueueEntry } from './queue-api.ts';
import type { ListedQueue } from './store-facts.ts';

/** The queues of a store, as far as is known. */
export interface QueuesState {
  /** `connecting` until the first answer; `stale` while the server cannot be reached: `queues` are then the last known. */
  readonly status: 'connecting' | 'live' | 'stale';
  /** By name. */
  readonly queues: readonly ListedQueue[];
  /** While it is not `live`: why the last look failed. */
  readonly error?: unknown;
}

/** One thing that happened in a queue. */
export interface QueueChange {
  /** The store's number for what made it; see `PastChange`. */
  readonly revision: bigint;
  /** `granted`: its turn came, by the queue's own rule; its client may have learned it later. */
  readonly kind: 'joined' | 'granted' | 'changed' | 'left';
  /** As it was after the change; before it, with `left`. */
  readonly entry: QueueEntry;
  /** Whether its turn had come: before the change. Always with `granted`. */
  readonly held: boolean;
}

/** What is still known of a queue's past. It tells the order of things, and no times: stores keep none. */
export interface QueueHistory {
  readonly name: string;
  /** The queue in order, as it was before the first change. */
  readonly before: readonly QueueEntry[];
  /** The earliest first. */
  readonly changes: readonly QueueChange[];
  /** What is missing, one sentence each, for people. */
  readonly gaps: readonly string[];
}
