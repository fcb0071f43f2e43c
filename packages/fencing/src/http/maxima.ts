import { checkedOptions, invalidArgument, QueueLockError, type KnownOptions } from '@queuelock/core/backend';
import { compareEpochTokens, type EpochToken } from '../epoch.ts';

/** Remembers the largest token of each resource. One that several receivers share makes one fence of them. */
export interface Maxima {
  /**
   * In one atomic step: sets the resource's maximum to `at` if that is larger, or if there is none; answers with the
   * maximum after it. A rejection means that nobody may pass. A maximum must never be forgotten while an older holder can
   * still send.
   */
  raise(resource: string, at: EpochToken): EpochToken | PromiseLike<EpochToken>;
}

/** How much {@link memoryMaxima} may hold. */
export interface MemoryMaximaOptions {
  /** Default 100,000: about 100 bytes and the name for each. */
  readonly maxResources?: number;
}

const OPTIONS: KnownOptions<MemoryMaximaOptions> = { maxResources: 'any' };

/** Maxima in this process. */
export interface MemoryMaxima extends Maxima {
  /** How many resources it knows. */
  readonly size: number;
  /** Forgets a resource that is no more. Whoever sends for it then is the first. */
  forget(resource: string): void;
}

/**
 * Maxima in this process: they start again with it, and each process has its own. When it is full it takes no further
 * resource (`UNAVAILABLE`) rather than forget one, which would let its old holders in.
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
          `the tokens of ${String(maxResources)} resources are remembered and no more fit: raise maxResources, or forget() what is gone`,
        );
      }
      const raised = { epoch, token };
      maxima.set(resource, raised);
      return raised;
    },
  };
}
