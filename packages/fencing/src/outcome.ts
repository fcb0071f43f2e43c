/**
 * What a fence said to a write. A rejection instead is neither: the outcome is unknown, the write may have happened and
 * may still happen.
 */
export type FenceOutcome =
  | { readonly outcome: 'accepted' }
  /** A later holder was here; `largest` is its token. Stop: the lock is not held any more. */
  | { readonly outcome: 'refused'; readonly largest: bigint };
