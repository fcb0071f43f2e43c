/** Releases a lock; resolves when the store has confirmed it. */
export type Release = () => Promise<unknown>;

/** A connection of a lock library, with its session if the library has sessions. */
export interface Contender {
  /** Waits for the lock. Many calls may wait at a time, also for one name. */
  acquire(name: string): Promise<Release>;
  close(): Promise<void>;
}

/** A lock library whose performance is measured. */
export interface Lock {
  /** Opens a connection to the store, and resolves when it is connected. */
  open(): Promise<Contender>;
  /**
   * Resolves when `waiters` entries wait and the server watches their predecessors, so that no request is in
   * flight.
   */
  untilWatching?(waiters: number): Promise<void>;
}

/**
 * The requests to the store that an acquisition and a release need, without any lock library. Their duration
 * is the lower bound for a lock.
 */
export interface RawStore {
  /** Raw calls to the store that are measured, by name. Each call gets a key of its own. */
  readonly calls: Readonly<Record<string, (key: string) => Promise<unknown>>>;
  create(key: string): Promise<unknown>;
  remove(key: string): Promise<unknown>;
  /**
   * Watches a key. Resolves when the server has registered the watch. Calls `gone` when the server later
   * reports that the key was deleted.
   */
  watchDeletion(key: string, gone: () => void): Promise<void>;
  close(): Promise<void>;
}
