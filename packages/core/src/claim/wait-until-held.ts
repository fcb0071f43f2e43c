import type { MultiClaimState } from '../api/api.ts';
import type { ClaimState } from '../api/claim-state.ts';
import type { PositionedClaimState } from '../api/position-api.ts';
import type { MultiOwnership, Ownership } from '../api/hold-api.ts';
import type { Observable } from '../base/rx.ts';

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
    claim$.subscribe({
      next: (state) => {
        if (state.status === 'held') resolve(state.ownership);
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- an abort rejects with the signal's own reason
        if (state.status === 'ended' && state.outcome !== 'released') reject(state.error);
      },
      error: reject,
    });
  });
}
