import { isQueueLockError } from '@queuelock/core';
import { expectAccepted, type AnyFenceOutcome, type FencingHold } from '@queuelock/fencing';

export type Answer = 'accepted' | 'refused';

/**
 * Resolves with `accepted`, or with `refused` if the write was rejected because of a later holder. Rejects
 * with any other error.
 */
export async function answerOf(answer: PromiseLike<AnyFenceOutcome>): Promise<Answer> {
  try {
    await expectAccepted(answer);
    return 'accepted';
  } catch (error) {
    if (isQueueLockError(error, 'OWNERSHIP_LOST')) return 'refused';
    throw error;
  }
}

/** The present texts that were written with and without a fence. */
export interface Texts {
  readonly fenced: string;
  readonly unfenced: string;
}

/** A kind of resource, used by both processes of a test. `place` is its address as a single string. */
export interface Resource {
  /** Connects with the data of a hold, which may have ended. */
  open(place: string, hold: FencingHold): Promise<Writer>;
  texts(place: string): Promise<Texts>;
}

export type ResourceKind = 'etcd' | 'znode' | 'postgres' | 'mariadb' | 'sqlite' | 'http';

/** A client of a resource. It writes the same text with and without a fence, each to its own location. */
interface Writer {
  fenced(text: string): Promise<Answer>;
  /** Writes without a fence, as programs do that rely only on the lock. */
  unfenced(text: string): Promise<Answer>;
  close(): Promise<void>;
}
