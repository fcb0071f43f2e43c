import type { ClaimState, MultiClaimState } from '../api/api.ts';
import type { PositionedClaimState } from '../api/position-api.ts';
import type { MultiOwnership, Ownership } from '../api/hold-api.ts';
import type { Observable } from '../base/rx.ts';

/**
 * The ownership that a claim comes to; rejects with what ended it before. The claim stays subscribed for as long as it lives: an
 * ownership ends by its release or its loss, which end the claim.
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
