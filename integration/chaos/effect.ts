/** One write of a worker to a resource, with the fencing token of the worker's hold. */
export interface Effect {
  readonly queue: string;
  /**
   * Key of the entry with which the worker holds or held the lock. `token` is the fencing token of that hold.
   */
  readonly key: string;
  readonly token: bigint;
  readonly number: number;
  readonly believed: boolean;
}

export type Outcome = 'accepted' | 'refused' | 'unknown';

/**
 * A resource that workers write to while they hold a lock, for instance a file. `send` sends a write before
 * it returns. Its promise resolves with the outcome of the write within a second, and never rejects.
 */
export interface EffectTarget {
  send(effect: Effect): Promise<Outcome>;
  close(): void;
}

/** Longest wait in milliseconds for the response to a write; after it the outcome of the write is unknown. */
export const EFFECT_WITHIN_MS = 1_000;
