/** Releases a lock; resolves when the store has confirmed it. */
export type Release = () => Promise<unknown>;

/** A connection with a session, if the library has sessions. */
export interface Contender {
  /** Waits for the lock. Many calls may wait at a time, also for one name. */
  acquire(name: string): Promise<Release>;
  close(): Promise<void>;
}

/** A lock library that is measured. */
export interface Lock {
  /** Opens a connection, and resolves when it is connected. */
  open(): Promise<Contender>;
  /** Resolves when this many entries are waiting and the server keeps a synchronized watch for each of them. */
  untilWatching?(waiters: number): Promise<void>;
}

/** The calls that a lock consists of, sent directly to the store: the lower bound of its cost. */
export interface RawStore {
  /** Calls that can be timed by their name, each on a key of its own. */
  readonly calls: Readonly<Record<string, (key: string) => Promise<unknown>>>;
  create(key: string): Promise<unknown>;
  remove(key: string): Promise<unknown>;
  /**
   * Resolves when the server watches the key. Calls `gone` when the server reports that the key was deleted.
   */
  watchDeletion(key: string, gone: () => void): Promise<void>;
  close(): Promise<void>;
}
