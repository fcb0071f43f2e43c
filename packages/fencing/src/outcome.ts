import { nameOf } from './hold.ts';

/** The lock is not held any more: a later holder was here, or (in etcd) the hold's own entry is gone. Stop. */
export interface FenceRefused {
  readonly outcome: 'refused';
  /** The later holder's token, where the place that refused tells it. */
  readonly largest?: bigint;
  /** Which name, which token, and what refused it. */
  readonly reason: string;
}

/**
 * What a fence said to a write. A rejection instead is neither: the outcome is unknown, the write may have happened and
 * may still happen.
 */
export type FenceOutcome = { readonly outcome: 'accepted' } | FenceRefused;

/** A refusal, in words that say who, where, and by whom. */
export function refusedAt(
  place: string,
  hold: { readonly name?: string; readonly token: bigint },
  largest: bigint,
): FenceRefused {
  const reason = `${nameOf(hold)} is refused by ${place}: a later holder was there, with token ${String(largest)}`;
  return { outcome: 'refused', largest, reason };
}
