// An entry's create revision is its place, so an exclusive entry that becomes a shared one keeps its key. A mark, a key of its own on
// the same lease and with the same last part, tells the shared entries behind it. Everybody else, Go's clients too, goes on to
// see an exclusive entry, and waits.
import type { IRangeResponse, IRequestOp } from '../protocol/messages.ts';
import { put } from './txn.ts';

/** Part of the change that makes the entry a shared one. Sent again, it changes nothing. */
export function putMark({ markKey }: { readonly markKey: Buffer }, lease: string): IRequestOp {
  return put(markKey, '', lease);
}

/** The names of the entries that are marked; without those of nested names, which are further down. */
export function marksIn(marks: IRangeResponse | undefined, directory: string): ReadonlySet<string> {
  const names = (marks?.kvs ?? []).map(({ key }) => key.toString().slice(directory.length));
  return new Set(names.filter((name) => !name.includes('/')));
}
