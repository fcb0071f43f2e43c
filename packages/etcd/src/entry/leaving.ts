import { isQueueLockError } from '@queuelock/core/backend';
import type { IRequestOp, IResponseOp, ITxnRequest, ITxnResponse } from '../protocol/messages.ts';
import type { Connection } from '../server/connection.ts';
import type { Entry } from './entry.ts';
import { isRefusalOfOne, refuseTooLarge, type Batcher } from '../base/batcher.ts';
import type { Generation } from './generation.ts';
import { deleteSingleKey } from './single-key.ts';
import { removalWithTail } from './tail.ts';
import { createdAt, remove } from '../queue/txn.ts';

/** The parts of a session that remove its entries: the generation, and the batches of removals. */
export interface RemovalContext {
  readonly generation: Generation;
  /** Sends removals that need no conditions, in batches. */
  readonly leaving: Batcher<Entry, Outcome>;
}

/** Whether the entry existed when it was removed. `undefined` means that it was not removed, since its successor does not exist. */
type Outcome = boolean | undefined;

/** Maximum number of removals in one batch, below the 128 operations that etcd accepts by default. */
export const MAX_REMOVALS = 120;

const WHAT = 'leaving a queue';

/** Removes the entry so that no request in flight can create it again. Resolves with whether it existed. */
export async function withdraw({ generation, leaving }: RemovalContext, entry: Entry): Promise<boolean> {
  try {
    if (isPlain(entry) && !generation.isExported) return await removeInBatch(leaving, entry);
    const removed = entry.uncertain && !entry.trace ? false : await removeCreated(generation, entry);
    if (!entry.uncertain) return removed;
    const more = [...(entry.mark ? [remove(entry.mark)] : []), ...operationsAfterRemoval(entry)];
    return (await generation.removeForGood(entry.key, more)) || removed;
  } catch (error) {
    // If the session has ended, nothing is left to remove: its entries vanished with the lease, on which no key can be created any more.
    if (isQueueLockError(error, 'SESSION_LOST')) return false;
    throw error;
  }
}

/** Returns whether the entry consists of its key only (no mark, trace or single key), and no later entry can have the same key yet. */
export function isPlain({ order, uncertain, trace, mark, claimed }: Entry): boolean {
  return order !== undefined && !uncertain && !trace && !mark && !claimed;
}

async function removeInBatch(leaving: RemovalContext['leaving'], entry: Entry): Promise<boolean> {
  let removed: Outcome;
  while (removed === undefined) removed = await leaving.add(entry);
  return removed;
}

/** Removes a batch of entries. Each promise resolves with whether its entry existed. All promises reject if the outcome of the batch is unknown. */
export function removeEntries(
  connection: Connection,
  entries: readonly Entry[],
): readonly Promise<Outcome>[] {
  if (entries.length === 1) return entries.map((entry) => removeAlone(connection, entry));
  const removals = entries.map(removalOf);
  const txn = {
    success: removals.map(({ key, within }) => (within ? { request_txn: within } : remove(key))),
  };
  const batch = connection
    .ask(WHAT, (etcd, options) => etcd.txn(txn, options).catch(refuseTooLarge))
    .catch((error: unknown) => {
      if (!isRefusalOfOne(error)) throw error;
    });
  return entries.map(async (entry, i) => {
    const response = await batch;
    if (!response) {
      entry.withdraw();
      return removeAlone(connection, entry);
    }
    const own = response.responses[i];
    const within = own?.response_txn;
    return within ? outcomeOf(within, removals[i]?.successor) : hasRemoved(own);
  });
}

async function removeAlone(connection: Connection, entry: Entry): Promise<Outcome> {
  const { key, within, successor } = removalOf(entry);
  if (within) {
    return outcomeOf(await connection.ask(WHAT, (etcd, options) => etcd.txn(within, options)), successor);
  }
  const { deleted } = await connection.ask(WHAT, (etcd, options) => etcd.deleteRange({ key }, options));
  return deleted === '1';
}

interface Removal extends Pick<Entry, 'key'> {
  /** The transaction that removes the entry; `undefined` if deleting the entry's key is sufficient. */
  readonly within?: ITxnRequest | undefined;
  /** The successor that has taken the hold over. The entry is removed only if this successor exists in the store. */
  readonly successor?: Entry;
}

function removalOf(entry: Entry): Removal {
  const { key, tail, followed } = entry;
  const successor = presentSuccessor(entry);
  if (successor?.order !== undefined) {
    const within = { compare: [createdAt(successor.key, successor.order)], success: [remove(key)] };
    return { key, within, successor };
  }
  // Also removes the tail of the queue, if this process knows no entry behind the removed one; see `tail.ts`.
  return { key, within: tail && !followed ? removalWithTail(entry, tail) : undefined };
}

/**
 * Returns the first entry in the chain of successors that this session has not withdrawn and that is not
 * lost.
 */
function presentSuccessor(entry: Entry): Entry | undefined {
  let { successor } = entry;
  while (successor && (successor.withdrawn || successor.gone)) successor = successor.successor;
  return successor;
}

/** Reads the outcome of a removal. A successor that does not exist, although it was not withdrawn, is recorded as lost. */
function outcomeOf(
  { succeeded, responses }: Pick<ITxnResponse, 'succeeded' | 'responses'>,
  successor: Entry | undefined,
): Outcome {
  if (!successor || succeeded) return hasRemoved(responses[0]);
  if (!successor.withdrawn) successor.lose();
  return undefined;
}

function hasRemoved(own: Partial<IResponseOp> | undefined): boolean {
  return own?.response_delete_range?.deleted === '1';
}

/**
 * Removes the entry, its trace and its mark if its key still has the entry's create revision. A later entry with the same key stays. The single key
 * is deleted in any case: a client that has removed the entry may not know of the single key.
 */
export async function removeCreated(generation: Generation, entry: Entry): Promise<boolean> {
  const { key, order, trace, mark } = entry;
  if (order === undefined) return false;
  const keys = [key, trace, mark].filter((one) => one !== undefined);
  const back = operationsAfterRemoval(entry);
  const txn = { compare: [createdAt(key, order)], success: [...keys.map(remove), ...back], failure: back };
  const { succeeded } = await generation.guard(WHAT, txn);
  return succeeded;
}

/**
 * Returns the operations that follow every removal of an entry: they delete its single key, and the tail of the queue if the tail names the entry. A
 * missing tail only makes enqueues slower.
 */
function operationsAfterRemoval({ claimed, single, tail, key }: Entry): IRequestOp[] {
  return [...(claimed ? deleteSingleKey(single, key) : []), ...deleteSingleKey(tail, key)];
}
