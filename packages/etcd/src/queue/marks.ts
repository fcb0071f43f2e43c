// An entry's create revision is its order, so an exclusive entry that is converted to a shared one keeps its key. A mark notifies the shared entries
// behind the converted entry. The mark is a separate key on the same lease, with the same last part as the entry's key. All other clients, Go's
// included, still see an exclusive entry and wait.
import type { IRangeResponse, IRequestOp } from '../protocol/messages.ts';
import { put } from './txn.ts';

/** Returns the operation that converts the entry to a shared one. A repetition changes nothing. */
export function putMark({ markKey }: { readonly markKey: Buffer }, lease: string): IRequestOp {
  return put(markKey, '', lease);
}

/** Returns the names of the marked entries, without those of nested names. */
export function marksIn(marks: IRangeResponse | undefined, directory: string): ReadonlySet<string> {
  const names = (marks?.kvs ?? []).map(({ key }) => key.toString().slice(directory.length));
  return new Set(names.filter((name) => !name.includes('/')));
}
