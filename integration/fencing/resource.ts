import { isQueueLockError } from '@queuelock/core';
import { expectAccepted, type AnyFenceOutcome, type FencingHold } from '@queuelock/fencing';

export type Answer = 'accepted' | 'refused';

/**
 * Resolves with the outcome of a fenced write: `accepted`, or `refused` if the resource rejected it because
 * of a later holder. Rejects with any other error.
 */
export async function responseOf(response: PromiseLike<AnyFenceOutcome>): Promise<Answer> {
  try {
    await expectAccepted(response);
    return 'accepted';
  } catch (error) {
    if (isQueueLockError(error, 'OWNERSHIP_LOST')) return 'refused';
    throw error;
  }
}

/** The texts that the resource stores now: one written with a fence, and one without. */
export interface Texts {
  readonly fenced: string;
  readonly unfenced: string;
}

/**
 * A kind of resource that both processes of a fencing test write to. `place` is the address of the resource
 * as a single string.
 */
export interface Resource {
  /** Connects to the resource for writes of a hold, which may have ended. */
  open(place: string, hold: FencingHold): Promise<Writer>;
  texts(place: string): Promise<Texts>;
}

export type ResourceKind = 'etcd' | 'znode' | 'postgres' | 'mariadb' | 'sqlite' | 'http';

/**
 * A client of a resource. The resource stores two texts: one that the client writes with a fence, and one
 * that it writes without a fence.
 */
interface Writer {
  fenced(text: string): Promise<Answer>;
  /** Writes without a fence, as programs do that rely only on the lock. */
  unfenced(text: string): Promise<Answer>;
  close(): Promise<void>;
}
