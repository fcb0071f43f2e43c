/** Gives a lock back; resolves when the store has confirmed it. */
export type Release = () => Promise<unknown>;

/** A connection with a session, as far as its make has those. */
export interface Contender {
  /** Waits for the lock; many of these may wait at a time, also for one name. */
  acquire(name: string): Promise<Release>;
  close(): Promise<void>;
}

/** A make of locks. */
export interface Lock {
  /** Connects before it resolves. */
  open(): Promise<Contender>;
  /** Resolves when so many stand in line and the server keeps a watch for each of them, in step with the store. */
  untilWatching?(waiters: number): Promise<void>;
}

/** The calls that a lock is made of, straight to the store: its floor. */
export interface RawStore {
  /** The calls that can be timed by their name, each on a key of its own. */
  readonly calls: Readonly<Record<string, (key: string) => Promise<unknown>>>;
  create(key: string): Promise<unknown>;
  remove(key: string): Promise<unknown>;
  /** Resolves when the server watches; `gone` runs when it tells that the key was deleted. */
  watchDeletion(key: string, gone: () => void): Promise<void>;
  close(): Promise<void>;
}
