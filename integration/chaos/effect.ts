/** One write of a worker to a resource, with the fencing token of the worker's hold. */
export interface Effect {
  readonly queue: string;
  /** Key of the entry that the write belongs to. */
  readonly key: string;
  readonly token: bigint;
  readonly number: number;
  readonly believed: boolean;
}

export type Outcome = 'accepted' | 'refused' | 'unknown';

/**
 * A resource that workers write to. The data is sent before `send` returns. `send` settles within a second,
 * and never rejects.
 */
export interface EffectTarget {
  send(effect: Effect): Promise<Outcome>;
  close(): void;
}

/** Longest wait for a response in milliseconds; after it the outcome is unknown. */
export const EFFECT_WITHIN_MS = 1_000;
