// The order number of an entry is the create revision of its key. So an exclusive entry that is converted to
// a shared one must keep its key. A mark, which is a separate key, records the conversion and notifies the
// shared entries behind. The mark is on the same lease, and ends in the same name as the entry's key. Clients
// other than queuelock, such as Go's, still see an exclusive entry and wait.
import type { IRangeResponse, IRequestOp } from '../protocol/messages.ts';
import { put } from './txn.ts';

/** Returns the operation that writes the mark of an entry, and so converts the entry to a shared one. A repetition changes nothing. */
export function putMark({ markKey }: { readonly markKey: Buffer }, lease: string): IRequestOp {
  return put(markKey, '', lease);
}

/** Returns the names of the entries that have marks, without those of nested queues. */
export function marksIn(marks: IRangeResponse, directory: string): ReadonlySet<string> {
  const names = marks.kvs.map(({ key }) => key.toString().slice(directory.length));
  return new Set(names.filter((name) => !name.includes('/')));
}
