import {
  isQueueLockError,
  type LockClient,
  type RecordedHold,
  type RecordedHoldsState,
} from '@queuelock/core';
import { of, type Observable } from '../rx.ts';
import type { RecordedHoldSnapshot, RecordSnapshot } from '../wire.ts';
import { snapshotOf } from './entry.ts';

/** Returns the recorded holds of a queue; none for a store that does not keep them. */
export function recordOf(client: LockClient, name: string): Observable<RecordedHoldsState> {
  try {
    return client.recordedHolds(name);
  } catch (error) {
    if (isQueueLockError(error, 'INVALID_ARGUMENT')) return of({ status: 'live', name, holds: [] });
    throw error;
  }
}

/** Makes the snapshot of the recorded holds of a queue. */
export function recordSnapshot(state: RecordedHoldsState, now: number): RecordSnapshot {
  return { ...snapshotOf(state, now), name: state.name, holds: state.holds.map(holdSnapshot) };
}

function holdSnapshot({ order: _order, token, ...hold }: RecordedHold): RecordedHoldSnapshot {
  return { ...hold, token: String(token) };
}
