import type { AcquireOptions, ClaimOptions, ClaimState, SharedOwnership, WorkOptions } from '@queuelock/core';
import type { Observable } from 'rxjs';

/** Settings of a semaphore. */
export interface SemaphoreOptions {
  /** Number of permits. With `resizable` it is only the initial number, used if no client has written one. */
  readonly limit: number;
  /** Whether the limit may change while the semaphore is in use. All clients of a name should use the same value. Default `false`. */
  readonly resizable?: boolean;
}

/**
 * Settings of one acquisition: the options of a lock, and `permits`, the number of permits to take at once (default 1, at most the limit).
 */
export type PermitOptions = Omit<AcquireOptions, 'mode' | 'limit'>;

/** Settings of one `run`: the options of `acquire`, and the options that stop the work. */
export interface PermitRunOptions extends PermitOptions, WorkOptions {}

/** Settings of one claim: the options of a claim of a lock, and `permits`. */
export type PermitClaimOptions = Omit<ClaimOptions, 'mode' | 'limit'>;

/**
 * Permits of one name; made by `semaphore`. Each method resolves and rejects like the method of the same name
 * of `LockClient`.
 */
export interface Semaphore {
  readonly name: string;
  /**
   * Waits for the permits. Give them back with `release()` or `await using`.
   * @throws {QueueLockError} `LIMIT_MISMATCH` when an entry ahead uses another limit; `INVALID_ARGUMENT` when `permits` exceeds the limit, also after
   *   the limit has shrunk; otherwise like `LockClient.acquire`
   */
  acquire(options?: PermitOptions): Promise<SharedOwnership>;
  /**
   * Makes one attempt to take the permits without waiting.
   * @returns `undefined` when too few permits are free, or when another client already waits for permits
   */
  tryAcquire(options?: Omit<PermitOptions, 'timeoutMs'>): Promise<SharedOwnership | undefined>;
  /**
   * Runs `work` while holding the permits.
   * @throws {QueueLockError} like `LockClient.run`; `REENTRANT` for a call chain that already holds permits, if these and the requested
   *   ones together exceed the limit, and always if the semaphore is resizable. In other cases see `permits` of `ClaimOptions`
   */
  run<T>(
    work: (permit: SharedOwnership, stop: AbortSignal) => T | PromiseLike<T>,
    options?: PermitRunOptions,
  ): Promise<Awaited<T>>;
  /** Returns a claim of permits as a stream of its states, like `LockClient.claim`. */
  claim(options?: PermitClaimOptions): Observable<ClaimState>;
}

/** A semaphore whose limit may change while it is in use. */
export interface ResizableSemaphore extends Semaphore {
  /**
   * Emits the limit at once, then after each change. If no limit is written yet, the first subscriber writes
   * the declared one. All subscribers share the stream.
   * Emits nothing while the server cannot be reached; completes when the client is closed; errors with
   * `INVALID_ARGUMENT` when the register holds another text.
   */
  readonly limit$: Observable<number>;
  /**
   * Changes the limit for all clients. Retries until the outcome is certain. Of two concurrent calls, either
   * one may take effect last.
   */
  resize(limit: number): Promise<void>;
}
