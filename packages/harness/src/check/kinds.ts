import type { Terms } from './event.ts';
import type { Attempt } from './run.ts';

/** The kinds of claims, by the names that reports of a run use. */
export const KINDS = [
  'lock',
  'read lock',
  'write lock turned into a read lock',
  'permits',
  'lock of several names',
  'read lock of several names',
  'leadership',
] as const;
export type Kind = (typeof KINDS)[number];

export function kindOf(attempt: Pick<Attempt, 'terms' | 'together' | 'downgrading'>): Kind {
  const kind = kindOfClaim(attempt);
  return kind === 'lock' && attempt.downgrading !== undefined ? 'write lock turned into a read lock' : kind;
}

/** Returns the kind of a claim, as far as it is known when the claim is requested. */
export function kindOfClaim({ terms = {}, together = [] }: RequestedClaim): Kind {
  const { leader, limit = 1, shared } = terms;
  if (leader) return 'leadership';
  if (limit > 1) return 'permits';
  if (together.length > 0) return shared ? 'read lock of several names' : 'lock of several names';
  return shared ? 'read lock' : 'lock';
}

interface RequestedClaim {
  readonly terms?: Terms;
  readonly together?: readonly number[];
}
