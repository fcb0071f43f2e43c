import { isDefinite, isQueueLockError, type EntrySpec } from '@queuelock/core/backend';
import type { NodePosition } from './enqueue.ts';
import type { OwnEntry } from './entry.ts';
import { runInLanes } from '../base/lane.ts';
import { checkShape } from '../queue/shape.ts';

/**
 * Enqueues an entry in one queue. If it is in the queue already, resolves with its present position. If the enqueue fails with a definite
 * error, deletes the node that it has created. If an existing entry differs from `spec`, leaves it and rejects with `INVALID_ARGUMENT`.
 */
export function enqueueOne(entry: OwnEntry, spec: EntrySpec): Promise<NodePosition> {
  return runInLanes([entry.lane], async () => {
    let isNew = false;
    let position: NodePosition | undefined;
    try {
      position = await entry.position();
      isNew = !position;
      position ??= await entry.enqueue(spec);
    } catch (error) {
      const mustClear = isNew ? isDefinite(error) : isQueueLockError(error, 'FOREIGN_FORMAT');
      if (mustClear && !isQueueLockError(error, 'SESSION_LOST')) await entry.clear();
      throw error;
    }
    checkShape(position.own, spec);
    return position;
  });
}
