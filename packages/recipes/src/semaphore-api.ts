import type { AcquireOptions, ClaimOptions, ClaimState, SharedOwnership, WorkOptions } from '@queuelock/core';
import type { Observable } from 'rxjs';

/** Settings of a semaphore. */
export interface SemaphoreOptions {
  /** So many permits there are. With `resizable`: the number to begin with, if nobody has written one. */
  readonly limit: number;
  /** Whether the limit may change while it is in use. All users of a name should say the same. Default false. */
  readonly resizable?: boolean;
}

/** Settings of one acquisition: those of a lock, and `permits`, how many to take at once (default 1, at most the limit). */
export type PermitOptions = Omit<AcquireOptions, 'mode' | 'limit'>;

/** Settings of one `run`: those of `acquire`, and what tells the work to stop. */
export interface PermitRunOptions extends PermitOptions, WorkOptions {}

/** Settings of one claim: those of a lock's, and `permits`. */
export type PermitClaimOptions = Omit<ClaimOptions, 'mode' | 'limit'>;

/** Permits of one name; made by `semaphore`. Each call answers or rejects as that of `LockClient`. */
export interface Semaphore {
  readonly name: string;
  /**
   * Waits for the permits; give them back with `release()` or `await using`. Rejects also with `LIMIT_MISMATCH` when somebody ahead
   * uses another limit, and with `INVALID_ARGUMENT` when there are not so many permits, or no longer.
   */
  acquire(options?: PermitOptions): Promise<SharedOwnership>;
  /** The permits if they are free and nobody waits for any, `undefined` otherwise. */
  tryAcquire(options?: Omit<PermitOptions, 'timeoutMs'>): Promise<SharedOwnership | undefined>;
  /**
   * Runs `work` with permits. A call chain that holds some is refused with `REENTRANT` if both together are more than there are, and always
   * where the number changes; otherwise see `permits` of `ClaimOptions`.
   */
  run<T>(
    work: (permit: SharedOwnership, stop: AbortSignal) => T | PromiseLike<T>,
    options?: PermitRunOptions,
  ): Promise<Awaited<T>>;
  /** As `LockClient.claim`. */
  claim(options?: PermitClaimOptions): Observable<ClaimState>;
}

/** A semaphore whose limit may change while it is in use. */
export interface ResizableSemaphore extends Semaphore {
  /**
   * The limit at once, then every change; the first who looks writes the declared one if there is none. Shared; silent while the server
   * cannot be reached; completes when the client is closed; errors with `INVALID_ARGUMENT` when the register holds something else.
   */
  readonly limit$: Observable<number>;
  /** Changes the limit for everybody. Repeated until it is certain; of two at a time one is the last. */
  resize(limit: number): Promise<void>;
}
