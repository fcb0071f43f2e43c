import type { LineState } from '@queuelock/core';
import { given } from '../pictures/given.ts';
import { toWireError } from '../refusal.ts';
import type { HandoverPicture, JoinPicture } from '../wire.ts';

/** What is known of a join besides its claim. */
export interface JoinDetails {
  readonly at: number;
  /** Of the entry; known once it stands in the queue. */
  readonly key: string;
  readonly requests: readonly HandoverPicture[];
}

/** A join as it is sent. */
export function joinPicture(state: LineState, { at, key, requests }: JoinDetails): JoinPicture {
  switch (state.status) {
    case 'joining':
      return { at, status: 'joining' };
    case 'queued': {
      const { id, order, token, position, expectedWaitMs, answer } = state;
      const names = { id, key, order: String(order), token: String(token) };
      const place = { position, ...given('expectedWaitMs', expectedWaitMs) };
      return { at, status: 'queued', ...names, ...place, ...given('answer', answer) };
    }
    case 'held':
    case 'doubtful': {
      const { id, order, token, remainingMs } = state.ownership;
      const names = { id, key, order: String(order), token: String(token) };
      return { at, status: state.status, ...names, remainingMs, requests };
    }
    case 'ended':
      return { at, status: 'ended', outcome: state.outcome, ...given('error', errorIn(state)) };
  }
}

function errorIn(state: Extract<LineState, { status: 'ended' }>): ReturnType<typeof toWireError> | undefined {
  return state.outcome === 'released' ? undefined : toWireError(state.error);
}
