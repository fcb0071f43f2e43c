import { isDefinite, isQueueLockError, type EntrySpec } from '@queuelock/core/backend';
import type { Seat } from './enqueue.ts';
import type { OwnEntry } from './entry.ts';
import { inLine } from '../base/lane.ts';

/**
 * Takes a seat in one queue, or answers with the one that the entry has. When a definite error keeps it from taking one it has none; with
 * one that is not as `spec` wants it, it keeps that and rejects with `INVALID_ARGUMENT`.
 */
export function enterAlone(entry: OwnEntry, spec: EntrySpec): Promise<Seat> {
  return inLine([entry.lane], async () => {
    let isTaking = false;
    let seat: Seat | undefined;
    try {
      seat = await entry.seat();
      isTaking = !seat;
      seat ??= await entry.take(spec);
    } catch (error) {
      const isLeft = isTaking ? isDefinite(error) : isQueueLockError(error, 'FOREIGN_FORMAT');
      if (isLeft && !isQueueLockError(error, 'SESSION_LOST')) await entry.clear();
      throw error;
    }
    entry.checkShape(seat, spec);
    return seat;
  });
}
