import { checkedOptions, invalidArgument, QueueLockError, type KnownOptions } from '@queuelock/core/backend';
import { compareEpochTokens, type EpochToken } from '../epoch.ts';

/**
 * Stores the largest token of each resource (its maximum). Receivers that share one store refuse the same
 * requests.
 */
export interface Maxima {
  /**
   * Sets the largest token of the resource to `at` if that is larger or if there is none, in one atomic step.
   * A rejection means that no request may pass. The largest token must not be forgotten while an older holder
   * can still send.
   * @returns the largest token after the step
   */
  raise(resource: string, at: EpochToken): EpochToken | PromiseLike<EpochToken>;
}

/** Limits of {@link memoryMaxima}. */
export interface MemoryMaximaOptions {
  /**
   * The largest number of resources whose tokens are stored. Each takes about 100 bytes and its name. Default
   * 100,000.
   */
  readonly maxResources?: number;
}

const OPTIONS: KnownOptions<MemoryMaximaOptions> = { maxResources: 'any' };

/** Stores the largest token of each resource in the memory of this process. */
export interface MemoryMaxima extends Maxima {
  /** The number of resources whose largest token is stored. */
  readonly size: number;
  /**
   * Forgets the largest token of a resource that no longer exists. The next request for it is accepted
   * whatever its token.
   */
  forget(resource: string): void;
}

/**
 * Creates a store, in the memory of this process, for the largest token of each resource. Its content is lost
 * when the process ends, and each process has its own. When the limit is reached, `raise` throws
 * `UNAVAILABLE` for a new resource. Forgetting an old resource instead would admit its old holders.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when `maxResources` is not a whole number from 1
 */
export function memoryMaxima(options?: MemoryMaximaOptions): MemoryMaxima {
  const { maxResources = 100_000 } = checkedOptions('options of memoryMaxima', options, OPTIONS);
  if (!Number.isSafeInteger(maxResources) || maxResources < 1) {
    throw invalidArgument('maxResources', maxResources, 'is a whole number from 1');
  }
  const maxima = new Map<string, EpochToken>();
  return {
    get size() {
      return maxima.size;
    },
    forget(resource) {
      maxima.delete(resource);
    },
    raise(resource, { epoch, token }) {
      const known = maxima.get(resource);
      if (known !== undefined && compareEpochTokens(known, { epoch, token }) >= 0) return known;
      if (known === undefined && maxima.size >= maxResources) {
        throw new QueueLockError(
          'UNAVAILABLE',
          `the limit of ${String(maxResources)} resources is reached: raise maxResources, or call forget() for resources that no longer exist`,
        );
      }
      const raised = { epoch, token };
      maxima.set(resource, raised);
      return raised;
    },
  };
}
