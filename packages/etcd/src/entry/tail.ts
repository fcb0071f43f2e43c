// A queue of fast entries has a tail: a key outside of the queue that each fast entry writes in the transaction that creates the entry. No other
// client writes the tail. Its value is the key of the newest fast entry, which was created at the revision of the tail. If the queue has only fast
// entries at that revision, this newest entry is the predecessor of the next one. The next entry then waits for its predecessor alone, and the queue
// need not be listed. If a read shows that the predecessor does not exist any more, the queue is listed.
//
// A missing tail proves nothing. The tail vanishes with the lease of the last entry, and with the removal of the last entry.
import type { IRequestOp, IResponseOp, ITxnRequest } from '../protocol/messages.ts';
import { windowFor, type KeyRef, type QueueRows } from '../queue/ahead.ts';
import { known } from './entered.ts';
import type { Entry } from './entry.ts';
import { rangesBesideFast } from '../queue/keys.ts';
import { absent, latestFirst, remove, valueIs, versionIs } from '../queue/txn.ts';

/** The entry that writes a tail. */
type Tailed = Pick<Entry, 'key' | 'under' | 'fast' | 'range' | 'owned'>;

/** The entries ahead: all of them, or the last one. */
export type QueueAhead = { readonly rows: QueueRows } | { readonly behind: KeyRef };

// A tail counts the entries that were created since the tail exists. A queue of at most this many entries is listed, which shows how many entries are
// ahead and whether other clients have entries.
const LISTED = 20;

/** How many operations the tail adds to the transaction that creates the entry. */
export const TAIL_OPERATIONS = 3;

/** Returns the operation that writes the tail, in the transaction that creates the entry. */
export function writeTail({ key }: Tailed, { tail, lease }: { tail: Buffer; lease: string }): IRequestOp {
  return { request_put: { key: tail, value: key, lease, prev_kv: true } };
}

/** Returns the operation that writes the tail and reads the entries ahead. */
export function writeTailAndReadAhead(
  entry: Tailed,
  at: { readonly tail: Buffer; readonly lease: string },
): IRequestOp {
  const written = writeTail(entry, at);
  const isLong = versionIs(at.tail, 'Greater', LISTED);
  const listed = { request_range: latestFirst(entry.range, windowFor(1)) };
  return {
    request_txn: {
      compare: [isLong, ...rangesBesideFast(entry.under, entry.fast).map(absent)],
      success: [written],
      failure: [written, listed],
    },
  };
}

export function readQueueAhead(answer: IResponseOp | undefined): QueueAhead {
  const { succeeded, responses } = known(answer?.response_txn);
  const [written, listed] = responses;
  if (!succeeded) return { rows: { latest: known(listed?.response_range) } };
  const { value, mod_revision } = known(written?.response_put.prev_kv);
  return { behind: { key: value, createRevision: mod_revision } };
}

/**
 * Returns the transaction that removes the entry, and the tail if no entry followed. A waiter that gives up in a long queue keeps the tail.
 * Without it, other clients would have to list the queue until the tail has counted as many entries again.
 */
export function removalWithTail({ key, owned }: Tailed, tail: Buffer): ITxnRequest {
  const isShort = owned ? [] : [versionIs(tail, 'Less', LISTED + 1)];
  return {
    compare: [valueIs(tail, key), ...isShort],
    success: [remove(key), remove(tail)],
    failure: [remove(key)],
  };
}
