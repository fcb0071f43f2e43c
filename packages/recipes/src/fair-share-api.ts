import type { Hold, WorkOptions } from '@queuelock/core';
import type { PermitOptions } from './semaphore-api.ts';

/** Settings of a `fairShare`. All clients of a name use the same numbers. */
export interface FairShareOptions {
  /** Largest number of permits that are held at a time, over all keys and clients. A whole number from 1 up. */
  readonly limit: number;
  /** Largest number of permits that one key holds at a time. A whole number from 1 to `limit`. */
  readonly limitPerKey: number;
}

/** Settings of one acquisition; as in `ClaimOptions`. `timeoutMs` limits the wait for both permits together. */
export type ShareOptions = Pick<
  PermitOptions,
  'signal' | 'timeoutMs' | 'minRemainingMs' | 'owner' | 'metadata'
>;

/** Settings of one `run`: the options of `acquire`, and the options that stop the work. */
export interface ShareRunOptions extends ShareOptions, WorkOptions {}

/**
 * The right to use one share of a key. It consists of two permits: one of the key and one of the shared queue. The share is lost when
 * either permit is lost. Releasing it gives back the shared permit first, and then the permit of the key. So a key never has more than
 * `limitPerKey` entries in the shared queue.
 */
export interface Share extends Hold {
  /** The key that the share belongs to. */
  readonly key: string;
}

/** Permits of one name, shared fairly among keys; made by `fairShare`. */
export interface FairShare {
  readonly name: string;
  /**
   * Waits for one of the permits that this key may hold. Give it back with `release()` or `await using`.
   * @param key the tenant, customer or host that gets the share, 1 to 200 characters
   * @throws {QueueLockError} `INVALID_ARGUMENT` for a bad key or option; `LIMIT_MISMATCH` when an entry ahead uses another limit; `OWNERSHIP_LOST`
   * when the call had a permit of this key's own semaphore, but lost it while it waited for the semaphore of all keys; otherwise like
   * `LockClient.acquire`
   */
  acquire(key: string, options?: ShareOptions): Promise<Share>;
  /**
   * Makes one attempt to take a share of the key, without waiting.
   * @returns `undefined` when the key holds `limitPerKey` permits, when all keys together hold `limit` permits, or when another client waits for a
   * permit
   */
  tryAcquire(key: string, options?: Omit<ShareOptions, 'timeoutMs'>): Promise<Share | undefined>;
  /**
   * Runs `work` with a share of the key. `workTimeoutMs` does not count the waits.
   * @throws {QueueLockError} like `LockClient.run`
   */
  run<T>(
    key: string,
    work: (share: Share, stop: AbortSignal) => T | PromiseLike<T>,
    options?: ShareRunOptions,
  ): Promise<Awaited<T>>;
}
