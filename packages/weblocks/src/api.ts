/** How a lock is held: by one holder, or together with other shared holders. */
export type LockMode = 'exclusive' | 'shared';

/** Options of `request`, as in the W3C draft. */
export interface LockOptions {
  /** Whether the lock excludes all other locks of its name, or only exclusive ones. Default `exclusive`. */
  readonly mode?: LockMode | undefined;
  /** Runs the callback with `null` if the lock cannot be granted at once. Cannot be combined with `steal` or `signal`. Default `false`. */
  readonly ifAvailable?: boolean | undefined;
  /**
   * Takes the lock from all holders, whose requests reject with an `AbortError`. Overtakes all waiters, which
   * keep their order. Only in mode `exclusive`; cannot be combined with `ifAvailable` or `signal`. Default
   * `false`.
   */
  readonly steal?: boolean | undefined;
  /** Ends the wait: the request rejects at once with the signal's reason. It has no effect once the callback runs. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * A held lock, as it is passed to the callback. `name` and `mode` are as in the standard. The other members are needed because a lock can
 * be lost: the server may consider its holder dead.
 */
export interface HeldLock {
  readonly name: string;
  readonly mode: LockMode;
  /** Fencing token, larger than that of every earlier holder of this name. Send it with every protected write. */
  readonly token: bigint;
  /**
   * Aborts when the lock is lost or stolen, never when it is released. It aborts no later than the server may grant the lock to the next
   * waiter.
   */
  readonly signal: AbortSignal;
  /**
   * Whether the lock is held now. Each read of this property compares the deadline of the hold with the
   * clock.
   */
  readonly held: boolean;
}

/** The work under a lock. The lock is held until the returned promise has settled. The argument is `null` if the lock was not available. */
export type LockGrantedCallback<T> = (lock: HeldLock | null) => T;

/** A held or pending lock request, as `LockManager.query` reports it. */
export interface LockInfo {
  readonly name: string;
  readonly mode: LockMode;
  readonly clientId: string;
}

/**
 * The result of `LockManager.query`: all lock requests of a scope. Requests for one name are in the order in
 * which they were made.
 */
export interface LockManagerSnapshot {
  readonly held: LockInfo[];
  readonly pending: LockInfo[];
}

/**
 * The W3C interface of `navigator.locks`, for all processes that use one store and scope. It can be used wherever a standard `LockManager`
 * is expected.
 */
export interface LockManager extends AsyncDisposable {
  /** Id of this manager, shown as `clientId` by `query`. */
  readonly clientId: string;
  /**
   * Waits for the lock, calls `callback` with it, and releases it when the returned promise has settled. Requests of one manager reach the
   * store in the order in which they were made, across all names.
   * @returns the result of `callback`, after the store has confirmed the release
   * @throws the error of `callback`, or the signal's reason
   * @throws {TypeError} for arguments that the standard refuses
   * @throws {DOMException} `NotSupportedError` for combinations that the standard refuses; `AbortError` when the lock was stolen or lost
   *   while the callback ran, with the reason as its `cause` and without waiting for the callback
   * @throws {QueueLockError} when the lock was never granted: `SESSION_LOST`, `ENTRY_LOST` (an operator removed the entry), `CLOSED`,
   *   `UNAVAILABLE` (only with `ifAvailable`, because other requests do not give up); `INVALID_ARGUMENT` for a name that is too long
   * @example
   * await locks.request('invoices/42', async (lock) => {
   *   await book({ token: lock?.token, signal: lock?.signal });
   * });
   */
  request<T>(name: string, callback: LockGrantedCallback<T>): Promise<Awaited<T>>;
  /**
   * Requests the lock as `request` without options does, but with the mode, the signal and the other given
   * options.
   */
  request<T>(name: string, options: LockOptions, callback: LockGrantedCallback<T>): Promise<Awaited<T>>;
  /**
   * Returns the held and pending requests of all clients of this scope. It includes every change that the
   * store had confirmed before the call, and every request that this manager made before. Each name is read
   * separately, so the snapshot does not show one common moment.
   * @throws {QueueLockError} `UNAVAILABLE` when the store cannot be reached
   */
  query(): Promise<LockManagerSnapshot>;
  /**
   * Closes the manager. Its pending requests reject with `CLOSED`, and its requests with a running callback reject with an `AbortError`.
   * Resolves when nothing of this manager is left in the store. Closes the client if the manager made it. Later calls reject with `CLOSED`.
   */
  close(): Promise<void>;
}

/** Settings of a lock manager. */
export interface LockManagerOptions {
  /**
   * Namespace of the locks, as the origin is in a browser. Managers of one scope share their names and see each other in `query`; managers
   * of other scopes do not. 1 to 100 printable ASCII characters. Default `weblocks`.
   */
  readonly scope?: string;
  /**
   * Id of this manager. It must be unique in the scope, otherwise `query` cannot distinguish the clients. 1 to 200 printable ASCII
   * characters. Default: host, process id and a random part.
   */
  readonly clientId?: string;
}
