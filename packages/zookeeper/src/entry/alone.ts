import { isDefinite, isQueueLockError, type EntrySpec } from '@queuelock/core/backend';
import type { NodePosition } from './enqueue.ts';
import type { OwnEntry } from './entry.ts';
import { inLine } from '../base/lane.ts';

/**
 * Takes a position in one queue, or answers with the one that the entry has. When a definite error keeps it from taking one it has none; with
 * one that is not as `spec` wants it, it keeps that and rejects with `INVALID_ARGUMENT`.
 */
export function enterAlone(entry: OwnEntry, spec: EntrySpec): Promise<NodePosition> {
  return inLine([entry.lane], async () => {
    let isTaking = false;
    let position: NodePosition | undefined;
    try {
      position = await entry.position();
      isTaking = !position;
      position ??= await entry.take(spec);
    } catch (error) {
      const isLeft = isTaking ? isDefinite(error) : isQueueLockError(error, 'FOREIGN_FORMAT');
      if (isLeft && !isQueueLockError(error, 'SESSION_LOST')) await entry.clear();
      throw error;
    }
    entry.checkShape(position, spec);
    return position;
  });
}
