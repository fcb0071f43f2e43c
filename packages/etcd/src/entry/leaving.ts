import { isQueueLockError } from '@queuelock/core/backend';
import type { IRequestOp, IResponseOp, ITxnRequest } from 'etcd3';
import type { Connection } from '../server/connection.ts';
import type { Entry } from './entry.ts';
import { isRefusalOfOne, refuseTooMuch, type Gatherer } from '../base/gathering.ts';
import type { Generation } from './generation.ts';
import { givingBack } from './single-key.ts';
import { leaveWithTail } from './tail.ts';
import { createdAt, remove } from '../queue/txn.ts';

/** What leaving needs. */
export interface Exit {
  readonly connection: Connection;
  readonly generation: Generation;
  /** Where entries go that may leave together with others. */
  readonly leaving: Gatherer<Entry, boolean>;
}

/** How many go in one transaction, below the 128 operations that a server takes. */
export const MOST_LEAVERS = 120;

const WHAT = 'leaving a queue';

/** Removes the entry so that no request that is still on its way can put it there again; `true` if it was there. */
export async function withdraw({ connection, generation, leaving }: Exit, entry: Entry): Promise<boolean> {
  try {
    if (isPlain(entry)) return await leaving.add(entry);
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

/** Whether there is nothing but its key, of which this process knows for certain that it is no other entry's until this one has left. */
function isPlain({ order, uncertain, trace, mark, claimed }: Entry): boolean {
  return order !== undefined && !uncertain && !trace && !mark && !claimed;
}

/** Removes the keys of these; of each whether it was there. Where the outcome is unknown, it is so for each. */
export function removeEntries(
  connection: Connection,
  entries: readonly Entry[],
): readonly Promise<boolean>[] {
  if (entries.length === 1) return entries.map((entry) => removeAlone(connection, entry));
  const txn = { success: entries.map(removal) };
  const together = connection
    .ask(WHAT, (etcd, options) => etcd.txn(txn, options).catch(refuseTooMuch))
    .catch((error: unknown) => {
      if (!isRefusalOfOne(error)) throw error;
    });
  return entries.map(async (entry, i) => {
    const answer = await together;
    if (!answer) {
      entry.withdraw();
      return removeAlone(connection, entry);
    }
    return hasRemoved(answer.responses[i]);
  });
}

async function removeAlone(connection: Connection, entry: Entry): Promise<boolean> {
  const txn = removalWithTail(entry);
  if (txn) {
    const { responses } = await connection.ask(WHAT, (etcd, options) => etcd.txn(txn, options));
    return hasRemoved(responses[0]);
  }
  const { key } = entry;
  const { deleted } = await connection.ask(WHAT, (etcd, options) => etcd.deleteRange({ key }, options));
  return deleted === '1';
}

function removal(entry: Entry): IRequestOp {
  const txn = removalWithTail(entry);
  return txn ? { request_txn: txn } : remove(entry.key);
}

/** None where it is not the last one, as far as this process knows. */
function removalWithTail(entry: Entry): ITxnRequest | undefined {
  return entry.tail && !entry.followed ? leaveWithTail(entry, entry.tail) : undefined;
}

function hasRemoved(answer: Partial<IResponseOp> | undefined): boolean {
  const own = answer?.response_txn?.responses[0] ?? answer;
  return own?.response_delete_range?.deleted === '1';
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
  const { succeeded } = await connection.ask(WHAT, (etcd, options) => etcd.txn(txn, options));
  return succeeded;
}

/** What goes with it whatever else is the case: a tail that is not there is only slower. */
function returned({ claimed, single, tail, key }: Entry): IRequestOp[] {
  return [...(claimed ? givingBack(single, key) : []), ...givingBack(tail, key)];
}
