import type { ClaimState, MultiClaimState } from '../api/api.ts';
import type { PositionedClaimState } from '../api/position-api.ts';
import type { MultiOwnership, Ownership } from '../api/hold-api.ts';
import type { Observable } from '../base/rx.ts';

/** The states that matter: others only wait. */
type AnyState<O> =
  | { readonly status: 'joining' | 'queued' | 'suspect' }
  | { readonly status: 'held'; readonly ownership: O }
  | { readonly status: 'ended'; readonly error?: unknown };

/**
 * Subscribes to a claim and waits for its grant. The claim stays subscribed until the ownership is released or lost.
 * @returns the ownership; rejects with the error that ended the claim before a grant
 */
export function waitUntilHeld(claim$: Observable<ClaimState | PositionedClaimState>): Promise<Ownership>;
export function waitUntilHeld(claim$: Observable<MultiClaimState>): Promise<MultiOwnership>;
export function waitUntilHeld(
  claim$: Observable<ClaimState | PositionedClaimState | MultiClaimState>,
): Promise<Ownership | MultiOwnership> {
  return new Promise((resolve, reject) => {
    const next = (state: ClaimState | PositionedClaimState | MultiClaimState): void => {
      settle(state, { resolve, reject });
    };
    claim$.subscribe({ next, error: reject });
  });
}

/** Settles a promise by a state of its claim: with the ownership, or with the error that ended the claim before a grant. */
export function settle<O>(
  state: AnyState<O>,
  {
    resolve,
    reject,
  }: { readonly resolve: (ownership: O) => void; readonly reject: (error: unknown) => void },
): void {
  if (state.status === 'held' && 'ownership' in state) resolve(state.ownership);
  // An abort rejects with the signal's own reason.
  if (state.status === 'ended' && 'error' in state) reject(state.error);
}
