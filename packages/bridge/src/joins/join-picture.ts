import type { ClaimState } from '@queuelock/core';
import type { Place } from '@queuelock/recipes';
import { given } from '../pictures/given.ts';
import { toWireError } from '../refusal.ts';
import type { HandoverPicture, JoinPicture } from '../wire.ts';

/** What is known of a join besides its claim. */
export interface JoinDetails {
  readonly at: number;
  readonly place: Place | undefined;
  readonly requests: readonly HandoverPicture[];
}

/** A join as it is sent. */
export function joinPicture(state: ClaimState, { at, place, requests }: JoinDetails): JoinPicture {
  switch (state.status) {
    case 'joining':
      return { at, status: 'joining' };
    case 'queued': {
      const { id, key, order, token, answer } = state;
      const names = { id, key, order: String(order), token: String(token) };
      return { at, status: 'queued', ...names, ...placePicture(place), ...given('answer', answer) };
    }
    case 'held':
    case 'doubtful': {
      const { id, key, order, token, remainingMs } = state.ownership;
      const names = { id, key, order: String(order), token: String(token) };
      return { at, status: state.status, ...names, remainingMs, requests };
    }
    case 'ended':
      return { at, status: 'ended', outcome: state.outcome, ...given('error', errorIn(state)) };
  }
}

/** One whose turn has come and who has not noticed is still next. */
function placePicture(place: Place | undefined): { position?: number; expectedWaitMs?: number } {
  if (!place || place.status === 'connecting') return {};
  return { position: Math.max(1, place.position), ...given('expectedWaitMs', place.expectedWaitMs) };
}

function errorIn(
  state: Extract<ClaimState, { status: 'ended' }>,
): ReturnType<typeof toWireError> | undefined {
  return state.outcome === 'released' ? undefined : toWireError(state.error);
}
