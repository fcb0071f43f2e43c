/** One write that should be protected. */
export interface Effect {
  readonly queue: string;
  /** Of the entry in whose name it is made. */
  readonly key: string;
  readonly token: bigint;
  readonly number: number;
  readonly believed: boolean;
}

export type Outcome = 'accepted' | 'refused' | 'unknown';

/** One resource. What is written goes out before `send` returns; it settles within a second, and never rejects. */
export interface EffectTarget {
  send(effect: Effect): Promise<Outcome>;
  close(): void;
}

/** How long an answer may take until its outcome counts as unknown. */
export const EFFECT_WITHIN_MS = 1_000;
