// A queue of fast entries has a tail: a key outside of it that each fast entry writes in the transaction that creates it, and no other client
// writes. If the tail was last written at some revision, the newest fast entry was created then, and its key is the tail's value. If the
// queue has only fast entries by then, the entries ahead of the next one are that entry and those ahead of it. As long as it exists, the
// next entry waits for it alone, and the queue need not be listed. It may be gone, as any predecessor may be; a read shows that, and then
// the queue is listed.
//
// A missing tail proves nothing. It vanishes with the lease of the last entry, and with the removal of the last entry.
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

// A tail counts the entries since there was none. A queue of at most this many is listed, which shows how many entries are ahead, and that
// there are no others.
const LISTED = 20;

/** The operations that a server must accept besides those of the surrounding transaction. */
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
