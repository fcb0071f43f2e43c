// A queue of fast entries has a tail: a key outside of it that each of them writes in the transaction that creates it, and nobody else
// writes. So a tail that was last written at some revision says: of all fast entries that ever came, the last one was created then, and has
// the key that is the tail's value. If nothing but fast entries is in the queue by then, all that are ahead of one that comes next are that
// one and those ahead of it. As long as it is there, it is the only one to wait for, and nobody need list the queue. It may be gone, as
// everybody ahead of a waiter may be: the look at it tells, and then the queue is listed.
//
// Nothing is concluded from a tail that is not there. It goes with the lease of the last one who came, and with whoever leaves as the last.
import type { IRequestOp, IResponseOp, ITxnRequest } from '../protocol/messages.ts';
import { windowFor, type KeyRef, type QueueRows } from '../queue/ahead.ts';
import { known } from './entered.ts';
import type { Entry } from './entry.ts';
import { rangesBesideFast } from '../queue/keys.ts';
import { absent, latestFirst, remove, valueIs, versionIs } from '../queue/txn.ts';

/** Whose tail it is. */
type Tailed = Pick<Entry, 'key' | 'under' | 'fast' | 'range' | 'owned'>;

/** Who is ahead: all that are there, or the last one of them. */
export type Standing = { readonly rows: QueueRows } | { readonly behind: KeyRef };

// A tail counts how many have come since there was none. A line of so many at most is listed, which tells how many are ahead, and
// that there are no others.
const LISTED = 20;

/** How many operations a server has to take besides those of the transaction around. */
export const TAIL_OPERATIONS = 3;

/** Part of the transaction that creates the entry. */
export function writeTail({ key }: Tailed, { tail, lease }: { tail: Buffer; lease: string }): IRequestOp {
  return { request_put: { key: tail, value: key, lease, prev_kv: true } };
}

/** The same, and reads who is ahead. */
export function standBehind(
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

export function readStanding(answer: IResponseOp | undefined): Standing {
  const { succeeded, responses } = known(answer?.response_txn);
  const [written, listed] = responses;
  if (!succeeded) return { rows: { latest: known(listed?.response_range) } };
  const { value, mod_revision } = known(written?.response_put.prev_kv);
  return { behind: { key: value, createRevision: mod_revision } };
}

/**
 * Removes the entry, and the tail if nobody came after it. But who gives up in a long line leaves the tail: others would have to
 * list the line until the tail has counted as many again.
 */
export function leaveWithTail({ key, owned }: Tailed, tail: Buffer): ITxnRequest {
  const isShort = owned ? [] : [versionIs(tail, 'Less', LISTED + 1)];
  return {
    compare: [valueIs(tail, key), ...isShort],
    success: [remove(key), remove(tail)],
    failure: [remove(key)],
  };
}
