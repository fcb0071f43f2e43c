import { describeHold } from './hold.ts';

/**
 * The outcome of a write that was refused: a later holder has already written or, in etcd, the entry of the
 * hold is gone. The lock is not held any more, so stop writing.
 */
export interface FenceRefused {
  readonly outcome: 'refused';
  /** The token with which a later holder has written, if the resource reports it. */
  readonly largest?: bigint;
  /** A text that contains the name of the lock, the token of the hold, and what has refused the write. */
  readonly reason: string;
}

/**
 * The outcome of a fenced write: accepted or refused. If a promise of an outcome rejects, the write may have
 * happened, or may still happen.
 */
export type FenceOutcome = { readonly outcome: 'accepted' } | FenceRefused;

/** Creates a refusal whose reason names the hold, the resource, and the token of the later holder. */
export function refusedBy(
  resource: string,
  hold: { readonly name?: string; readonly token: bigint },
  largest: bigint,
): FenceRefused {
  const reason = `${describeHold(hold)} is refused by ${resource}: a later holder wrote there, with token ${String(largest)}`;
  return { outcome: 'refused', largest, reason };
}
