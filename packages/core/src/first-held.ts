import type { ClaimState, MultiClaimState } from './api.ts';
import type { Hold } from './hold-api.ts';
import type { Observable } from './rx.ts';

type Held<S> = Extract<S, { readonly status: 'held' | 'doubtful'; readonly ownership: Hold }>['ownership'];

/**
 * The ownership that a claim comes to; rejects with what ended it before. The claim stays subscribed for as long as it lives: an
 * ownership ends by its release or its loss, which end the claim.
 */
export function firstHeld<S extends ClaimState | MultiClaimState>(claim$: Observable<S>): Promise<Held<S>> {
  return new Promise((resolve, reject) => {
    claim$.subscribe({
      next: (state) => {
        if (state.status === 'held') resolve(state.ownership);
        // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- an abort rejects with the signal's own reason
        if (state.status === 'ended' && state.outcome !== 'released') reject(state.error);
      },
      error: reject,
    });
  });
}
