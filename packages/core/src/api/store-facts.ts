// What a store tells beyond the one queue that somebody stands in: for those who look after it.

/** One entry as everybody can see it. */
export interface StoredEntry {
  /** Its key or path as stored. A later entry may have the same one, so what tells entries apart is key and order. */
  readonly key: string;
  readonly order: bigint;
  readonly shared: boolean;
  /** As given at `enqueue` or `update`; whatever a client of another kind wrote, for its entries. */
  readonly value: string;
  /**
   * Set for a key that no lock client made, as far as its name tells. Clients behind it wait for it as for an entry: until its lease ends,
   * or, without a lease, until it is deleted.
   */
  readonly foreign?: 'with-lease' | 'without-lease';
}

/** A queue in a list of queues. */
export interface ListedQueue {
  readonly name: string;
  /** Entries in it, at least 1. */
  readonly depth: number;
  /** The order of its first entry: another one as soon as the front has moved. */
  readonly front: bigint;
  /**
   * How many entries have left while the list was observed: holders, and those that gave up waiting. It starts at 0, and again some
   * time after the queue was empty. Where a store is looked at from time to time, who came and left between two looks of a queue
   * that was made anew is not counted.
   */
  readonly left: number;
  /** How many of the entries are foreign, see {@link StoredEntry.foreign}; absent where there is none. */
  readonly foreign?: number;
}

/** One change of a queue in the past. */
export interface PastChange {
  /** The store's number for what made it; grows, and may be the same for several. With `joined` it is the entry's fencing token. */
  readonly revision: bigint;
  readonly kind: 'joined' | 'changed' | 'left';
  /** As it was after the change; before it, with `left`. */
  readonly entry: StoredEntry;
}

/** What a store still knows of a queue's past. */
export interface StoredHistory {
  /** The queue in order, as it was before the first change. */
  readonly before: readonly StoredEntry[];
  /** The earliest first. */
  readonly changes: readonly PastChange[];
  /** What is missing, one sentence each, for people. */
  readonly gaps: readonly string[];
}

/** One thing that was looked at. */
export interface Finding {
  /** `error`: it breaks a promise, or may. `warning`: it can be better. */
  readonly level: 'ok' | 'warning' | 'error';
  /** A server, a queue, a key. */
  readonly about: string;
  /** What is so, and what to do about it. Without any secret. */
  readonly text: string;
}
