import type { PositionedClaimState } from '@queuelock/core';
import { ifDefined } from '../snapshots/if-defined.ts';
import { toWireError } from '../refusal.ts';
import type { HandoverSnapshot, JoinSnapshot } from '../wire.ts';

/**
 * The properties that a snapshot of a join has in addition to the state of its claim: its time, and pending
 * handover requests, for instance.
 */
export interface JoinDetails {
  readonly at: number;
  /** Key of the join's entry; empty until the entry is in the queue. */
  readonly key: string;
  readonly requests: readonly HandoverSnapshot[];
}

/** Converts the state of a join to the form in which the bridge sends it to pages. */
export function joinSnapshot(state: PositionedClaimState, { at, key, requests }: JoinDetails): JoinSnapshot {
  switch (state.status) {
    case 'joining':
      return { at, status: 'joining' };
    case 'queued': {
      const { id, order, token, expectedWaitMs, answer } = state;
      const names = { id, key, order: String(order), token: String(token) };
      const position = { position: state.position, ...ifDefined('expectedWaitMs', expectedWaitMs) };
      return { at, status: 'queued', ...names, ...position, ...ifDefined('answer', answer) };
    }
    case 'held':
    case 'suspect': {
      const { id, order, token, remainingMs } = state.ownership;
      const names = { id, key, order: String(order), token: String(token) };
      return { at, status: state.status, ...names, remainingMs, requests };
    }
    case 'ended':
      return { at, status: 'ended', outcome: state.outcome, ...ifDefined('error', errorIn(state)) };
  }
}

function errorIn(
  state: Extract<PositionedClaimState, { status: 'ended' }>,
): ReturnType<typeof toWireError> | undefined {
  return state.outcome === 'released' ? undefined : toWireError(state.error);
}
