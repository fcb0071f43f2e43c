import { QueueLockError, invalidArgument, type StoredEntry } from '@queuelock/core/backend';
import type { ViewTools } from './views.ts';

const ATTEMPTS = 5;

/**
 * Removes an entry of any session, if the entry in the queue still has this key and order number.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the key is not the key of an entry in this queue
 */
export async function evict(
  { connection, keys }: ViewTools,
  queue: string,
  { key, order }: Pick<StoredEntry, 'key' | 'order'>,
): Promise<boolean> {
  if (keys.entryIn(key)?.queue !== queue)
    throw invalidArgument('key', key, `is the key of an entry of the queue ${JSON.stringify(queue)}`);
  for (let left = ATTEMPTS; left > 0; left -= 1) {
    const { pairs } = await connection.read(key, { isConsistent: true });
    const [pair] = pairs;
    if (pair?.createIndex !== order) return false;
    const index = pair.modifyIndex;
    const result = await connection.txn([
      { verb: 'check-index', key, index },
      { verb: 'delete', key },
    ]);
    if (result.isDone) return true;
  }
  throw new QueueLockError('UNAVAILABLE', `${connection.endpoint}: the key ${key} changes too often`);
}
