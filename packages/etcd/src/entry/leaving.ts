import { isQueueLockError } from '@queuelock/core/backend';
import type { IRequestOp, IResponseOp, ITxnRequest, ITxnResponse } from '../protocol/messages.ts';
import type { Connection } from '../server/connection.ts';
import type { Entry } from './entry.ts';
import { isRefusalOfOne, refuseTooMuch, type Gatherer } from '../base/gathering.ts';
import type { Generation } from './generation.ts';
import { givingBack } from './single-key.ts';
import { leaveWithTail } from './tail.ts';
import { createdAt, remove } from '../queue/txn.ts';

/** What leaving needs. */
export interface Exit {
  readonly generation: Generation;
  /** Where entries go that may leave together with others. */
  readonly leaving: Gatherer<Entry, Outcome>;
}

/** Whether it was there; `undefined` when it still is, since the one that it stood for is gone. */
type Outcome = boolean | undefined;

/** How many go in one transaction, below the 128 operations that a server takes. */
export const MAX_LEAVERS = 120;

const WHAT = 'leaving a queue';

/** Removes the entry so that no request that is still on its way can put it there again; `true` if it was there. */
export async function withdraw({ generation, leaving }: Exit, entry: Entry): Promise<boolean> {
  try {
    if (isPlain(entry) && !generation.isExported) return await leaveWithOthers(leaving, entry);
    const removed = entry.uncertain && !entry.trace ? false : await removeCreated(generation, entry);
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
export function isPlain({ order, uncertain, trace, mark, claimed }: Entry): boolean {
  return order !== undefined && !uncertain && !trace && !mark && !claimed;
}

async function leaveWithOthers(leaving: Exit['leaving'], entry: Entry): Promise<boolean> {
  let removed: Outcome;
  while (removed === undefined) removed = await leaving.add(entry);
  return removed;
}

/** Removes the keys of these; of each whether it was there. Where the outcome is unknown, it is so for each. */
export function removeEntries(
  connection: Connection,
  entries: readonly Entry[],
): readonly Promise<Outcome>[] {
  if (entries.length === 1) return entries.map((entry) => removeAlone(connection, entry));
  const removals = entries.map(removalOf);
  const txn = {
    success: removals.map(({ key, within }) => (within ? { request_txn: within } : remove(key))),
  };
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
    const own = answer.responses[i];
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
  /** Where it is no plain one. */
  readonly within?: ITxnRequest | undefined;
  /** Whom the entry stands for: without that one it is not removed. */
  readonly successor?: Entry;
}

function removalOf(entry: Entry): Removal {
  const { key, tail, followed } = entry;
  const successor = presentSuccessor(entry);
  if (successor?.order !== undefined) {
    const within = { compare: [createdAt(successor.key, successor.order)], success: [remove(key)] };
    return { key, within, successor };
  }
  // It is the last one, as far as this process knows.
  return { key, within: tail && !followed ? leaveWithTail(entry, tail) : undefined };
}

/** Whom it stands for: who has taken over, from one to the next, and has not left. */
function presentSuccessor(entry: Entry): Entry | undefined {
  let { successor } = entry;
  while (successor && (successor.withdrawn || successor.gone)) successor = successor.successor;
  return successor;
}

/** A successor that was not there, and has not left either, is lost: the entry stands for nobody any more. */
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
 * Removes the entry that the server has told of, with its trace and mark; nothing else that has the same key. Its single key
 * goes in any case, since whoever removed the entry may not know of that.
 */
export async function removeCreated(generation: Generation, entry: Entry): Promise<boolean> {
  const { key, order, trace, mark } = entry;
  if (order === undefined) return false;
  const keys = [key, trace, mark].filter((one) => one !== undefined);
  const back = returned(entry);
  const txn = { compare: [createdAt(key, order)], success: [...keys.map(remove), ...back], failure: back };
  const { succeeded } = await generation.guard(WHAT, txn);
  return succeeded;
}

/** What goes with it whatever else is the case: a tail that is not there is only slower. */
function returned({ claimed, single, tail, key }: Entry): IRequestOp[] {
  return [...(claimed ? givingBack(single, key) : []), ...givingBack(tail, key)];
}
