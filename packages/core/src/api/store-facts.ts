// Data about a whole store, for operators: lists of queues, histories, health checks.

/** An entry as it is stored, and as every observer can read it. */
export interface StoredEntry {
  /** The key or path in the store. A later entry may have the same key, so identify an entry by `key` and `order` together. */
  readonly key: string;
  readonly order: bigint;
  readonly shared: boolean;
  /** The value passed to `enqueue` or `update`. For entries of other kinds of clients, the text that they wrote. */
  readonly value: string;
  /**
   * Set when the key's name shows that no lock client created it. Entries behind it wait for it like for any entry: until its lease ends or,
   * without a lease, until it is deleted.
   */
  readonly foreign?: 'with-lease' | 'without-lease';
}

/** A queue in a list of queues. */
export interface ListedQueue {
  readonly name: string;
  /** Number of entries, at least 1. */
  readonly depth: number;
  /** The `order` of the first entry. It changes whenever the first entry leaves the queue. */
  readonly front: bigint;
  /**
   * Number of entries that have left the queue while the list was observed, both holders and waiters. It starts at 0, and starts again some time
   * after the queue has become empty. A backend that polls misses entries of a recreated queue that joined and left between two reads.
   */
  readonly left: number;
  /** Number of foreign entries, see {@link StoredEntry.foreign}; absent if there are none. */
  readonly foreign?: number;
}

/** One change in the past of a queue. */
export interface PastChange {
  /** The store's revision of the change. Grows, and may be the same for several changes. For `joined` it is the entry's fencing token. */
  readonly revision: bigint;
  readonly kind: 'joined' | 'changed' | 'left';
  /** The entry as it was after the change. For the kind `left`: as it was before it left the queue. */
  readonly entry: StoredEntry;
}

/** The past of a queue as far as the store has kept it. */
export interface StoredHistory {
  /** All entries of the queue in order, before the first change. */
  readonly before: readonly StoredEntry[];
  /** The changes of the queue, earliest first. */
  readonly changes: readonly PastChange[];
  /** Missing parts of the history, one human-readable sentence each. */
  readonly gaps: readonly string[];
}

/** One result of a health check. */
export interface Finding {
  /** `error`: a guarantee is broken or at risk. `warning`: the setup can be improved. */
  readonly level: 'ok' | 'warning' | 'error';
  /** The server, queue or key that was checked. */
  readonly about: string;
  /** The finding and the recommended action. Contains no secrets. */
  readonly text: string;
}
