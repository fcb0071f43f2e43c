import { isQueueLockError } from '@queuelock/core';
import { expectAccepted, type AnyFenceOutcome, type FencingHold } from '@queuelock/fencing';

export type Answer = 'accepted' | 'refused';

/** Converts the result of `expectAccepted`: a later holder refuses, everything else is an error. */
export async function answerOf(answer: PromiseLike<AnyFenceOutcome>): Promise<Answer> {
  try {
    await expectAccepted(answer);
    return 'accepted';
  } catch (error) {
    if (isQueueLockError(error, 'OWNERSHIP_LOST')) return 'refused';
    throw error;
  }
}

/** The present texts of both places. */
export interface Texts {
  readonly fenced: string;
  readonly unfenced: string;
}

/** A kind of resource, used by both processes of a test. `place` is its address as one text. */
export interface Resource {
  /** Connects with the data of a hold, which may have ended. */
  open(place: string, hold: FencingHold): Promise<Writer>;
  texts(place: string): Promise<Texts>;
}

export type ResourceKind = 'etcd' | 'znode' | 'postgres' | 'mariadb' | 'sqlite' | 'http';

/** A client of a resource that writes the same text with and without a fence, each to a place of its own. */
interface Writer {
  fenced(text: string): Promise<Answer>;
  /** Writes without a fence, as programs do that rely on the lock alone. */
  unfenced(text: string): Promise<Answer>;
  close(): Promise<void>;
}
