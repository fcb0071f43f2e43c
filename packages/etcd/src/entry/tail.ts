// Fast entries (those of queues with the naming `fast`) use the tail of their queue: a key outside of the queue. Each fast entry writes the tail in
// the transaction that creates the entry, and no other client writes it. The tail's value is the key of the newest fast entry. If the queue has only
// fast entries, that entry is the predecessor of the next one. So the next entry waits for it, without listing the queue. If a read shows that the
// predecessor does not exist any more, the client lists the queue.
//
// A missing tail proves nothing: it vanishes with the lease of the newest fast entry, and with the removal of that entry.
import type { IRequestOp, IResponseOp, ITxnRequest } from '../protocol/messages.ts';
import { windowFor, type KeyRef, type QueueRows } from '../queue/ahead.ts';
import { known } from './entered.ts';
import type { Entry } from './entry.ts';
import { rangeUnder, rangesBesideFast } from '../queue/keys.ts';
import { absent, latestFirst, remove, valueIs, versionIs } from '../queue/txn.ts';

/** The parts of an entry with naming `fast` that are needed to write the tail of its queue. */
type Tailed = Pick<Entry, 'key' | 'under' | 'fast' | 'owned'>;

/** The part of the queue that an enqueue has read: rows of all entries ahead, or only the last entry ahead. */
export type QueueAhead = { readonly rows: QueueRows } | { readonly behind: KeyRef };

// Number of fast entries since the tail was created (the tail's etcd version) up to which an enqueue still lists the queue. The list shows how many
// entries are ahead, and whether other clients have entries.
const LISTED = 20;

/** Number of operations that writing the tail of one queue adds to an enqueue transaction. */
export const TAIL_OPERATIONS = 3;

/** Returns the operation that writes the tail, in the transaction that creates the entry. */
export function writeTail({ key }: Tailed, { tail, lease }: { tail: Buffer; lease: string }): IRequestOp {
  return { request_put: { key: tail, value: key, lease, prev_kv: true } };
}

/** Returns the operation that writes the tail of the queue and reads the entries ahead. */
export function writeTailAndReadAhead(
  entry: Tailed,
  at: { readonly tail: Buffer; readonly lease: string },
): IRequestOp {
  const written = writeTail(entry, at);
  const isLong = versionIs(at.tail, 'Greater', LISTED);
  const listed = { request_range: latestFirst(rangeUnder(entry.under), windowFor(1)) };
  return {
    request_txn: {
      compare: [isLong, ...rangesBesideFast(entry.under, entry.fast).map(absent)],
      success: [written],
      failure: [written, listed],
    },
  };
}

export function readQueueAhead(response: IResponseOp | undefined): QueueAhead {
  const { succeeded, responses } = known(response?.response_txn);
  const [written, listed] = responses;
  if (!succeeded) return { rows: { latest: known(listed?.response_range) } };
  const { value, mod_revision } = known(written?.response_put.prev_kv);
  return { behind: { key: value, createRevision: mod_revision } };
}

/**
 * Returns the transaction that removes the entry, and also the tail if no entry has followed. A waiter that gives up in a long queue does not remove
 * the tail. Otherwise other clients would list the queue until 20 more entries have written the tail.
 */
export function removalWithTail({ key, owned }: Tailed, tail: Buffer): ITxnRequest {
  const isShort = owned ? [] : [versionIs(tail, 'Less', LISTED + 1)];
  return {
    compare: [valueIs(tail, key), ...isShort],
    success: [remove(key), remove(tail)],
    failure: [remove(key)],
  };
}
