/** How a lock is held: alone, or together with other shared ones. */
export type LockMode = 'exclusive' | 'shared';

/** What `request` is asked with, as the W3C draft says it. Members may be left out. */
export interface LockOptions {
  /** Default `exclusive`. */
  readonly mode?: LockMode | undefined;
  /** The callback gets `null` when the lock cannot be granted at once. Not with `steal` or `signal`. Default false. */
  readonly ifAvailable?: boolean | undefined;
  /**
   * Takes the lock from all who hold it, whose requests reject with an `AbortError`, and goes ahead of all who wait, who keep their
   * order. Exclusive only, and not with `ifAvailable` or `signal`. Default false.
   */
  readonly steal?: boolean | undefined;
  /** Ends the wait: the request rejects at once with the signal's reason. Ignored once the callback runs. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A lock that is held, as the callback gets it. `name` and `mode` are the standard's; the rest is what a lock needs that can be lost
 * because a server may think that its holder is dead.
 */
export interface HeldLock {
  readonly name: string;
  readonly mode: LockMode;
  /** Fencing token: larger than that of every earlier holder of this name, for ever. Send it with every protected write. */
  readonly token: bigint;
  /** Aborts when the lock is lost or stolen, never when it is released; no later than the server may grant it to the next. */
  readonly signal: AbortSignal;
  /** Whether it is held at this very moment; compares with the clock. */
  readonly held: boolean;
}

/** The work under a lock. The lock is held until what it answers has settled. `null`: it was not available. */
export type LockGrantedCallback<T> = (lock: HeldLock | null) => T;

/** A request in a picture. */
export interface LockInfo {
  readonly name: string;
  readonly mode: LockMode;
  readonly clientId: string;
}

/** All requests of a scope. Those of one name are in the order in which they were made. */
export interface LockManagerSnapshot {
  readonly held: LockInfo[];
  readonly pending: LockInfo[];
}

/**
 * The W3C interface, as `navigator.locks` has it, for all processes that use one store and scope. It can stand wherever a standard
 * `LockManager` is expected.
 */
export interface LockManager extends AsyncDisposable {
  /** Shown as `clientId` by `query`. */
  readonly clientId: string;
  /**
   * Waits for the lock, calls `callback` with it, releases it when what that answers has settled, and answers the same once the store
   * has confirmed the release. Rejects with what the callback throws; with the signal's reason; with a `TypeError` or a
   * `NotSupportedError` for what the standard refuses; with an `AbortError` when the lock was stolen or lost while the callback
   * ran (`cause` says how), without waiting for it; with a `QueueLockError` when the turn never came: `SESSION_LOST`, `ENTRY_LOST`
   * (an operator removed it), `UNAVAILABLE` (with `ifAvailable` only: nothing else gives up), `CLOSED`; `INVALID_ARGUMENT` for a name that is too long.
   * The steps of one manager reach the store in the order in which they were asked for, across all names.
   */
  request<T>(name: string, callback: LockGrantedCallback<T>): Promise<Awaited<T>>;
  /** The same with options. */
  request<T>(name: string, options: LockOptions, callback: LockGrantedCallback<T>): Promise<Awaited<T>>;
  /**
   * What is held and what waits in this scope, by whichever client. It sees every step that was confirmed before the call, and every
   * step that this manager was asked for before. Each name is seen at a moment of its own. Rejects with `UNAVAILABLE` when the store
   * cannot be asked.
   */
  query(): Promise<LockManagerSnapshot>;
  /**
   * Gives up what is held and what waits: those requests reject, with an `AbortError` if their callbacks run. Settles when
   * nothing of this manager is left in the store. Closes the client if the manager made it. Afterwards every call rejects with `CLOSED`.
   */
  close(): Promise<void>;
}

/** Settings of a lock manager. */
export interface LockManagerOptions {
  /**
   * Whose locks these are: managers of one scope share their names and see each other in `query`, others do not. 1 to 100 printable ASCII characters.
   * What the origin is to a browser. Default `weblocks`.
   */
  readonly scope?: string;
  /** Default: host, process id and a random part. Unique in the scope, or `query` cannot tell the clients apart. 1 to 200 printable ASCII characters. */
  readonly clientId?: string;
}
