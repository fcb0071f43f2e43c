import { isQueueLockError } from '@queuelock/core/backend';
import type { IRequestOp } from 'etcd3';
import type { Connection } from './connection.ts';
import type { Desk } from './entering.ts';
import type { Entry } from './entry.ts';
import { givingBack } from './single-key.ts';
import { createdAt, remove } from './txn.ts';

/** Removes the entry so that no request that is still on its way can put it there again; `true` if it was there. */
export async function withdraw({ connection, generation }: Desk, entry: Entry): Promise<boolean> {
  try {
    const removed = entry.uncertain && !entry.trace ? false : await removeCreated(connection, entry);
    if (!entry.uncertain) return removed;
    const more = [...(entry.mark ? [remove(entry.mark)] : []), ...returned(entry)];
    return (await generation.removeForGood(entry.key, more)) || removed;
  } catch (error) {
    // Entries go with their lease, and nothing can be put on it any more.
    if (isQueueLockError(error, 'SESSION_LOST')) return false;
    throw error;
  }
}

/**
 * Removes the entry that the server has told of, with its trace and mark; nothing else that has the same key. Its single key
 * goes in any case, since whoever removed the entry may not know of that.
 */
export async function removeCreated(connection: Connection, entry: Entry): Promise<boolean> {
  const { key, order, trace, mark } = entry;
  if (order === undefined) return false;
  const keys = [key, trace, mark].filter((one) => one !== undefined);
  const back = returned(entry);
  const txn = { compare: [createdAt(key, order)], success: [...keys.map(remove), ...back], failure: back };
  const { succeeded } = await connection.ask('leaving a queue', (etcd, options) => etcd.kv.txn(txn, options));
  return succeeded;
}

function returned({ claimed, single, key }: Entry): IRequestOp[] {
  return claimed ? givingBack(single, key) : [];
}
