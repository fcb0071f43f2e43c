// An entry's create revision is its place, so an exclusive entry that becomes a shared one keeps its key. A mark, a key of its own on
// the same lease and with the same last part, tells the shared entries behind it. Everybody else, Go's clients too, goes on to
// see an exclusive entry, and waits.
import type { IRangeResponse, ITxnRequest } from 'etcd3';
import type { Entry } from './entry.ts';
import { createdAt, put, putKeepingLease } from './txn.ts';

/** Puts the mark and the new value, if the entry is still there. Sent again, it changes nothing. */
export function markTxn(
  { key, markKey }: Entry,
  { order, lease, value }: { readonly order: bigint; readonly lease: string; readonly value: string },
): ITxnRequest {
  return {
    compare: [createdAt(key, order)],
    success: [put(markKey, '', lease), putKeepingLease(key, value)],
  };
}

/** The names of the entries that are marked; without those of nested names, which are further down. */
export function marksIn(marks: IRangeResponse | undefined, directory: string): ReadonlySet<string> {
  const names = (marks?.kvs ?? []).map(({ key }) => key.toString().slice(directory.length));
  return new Set(names.filter((name) => !name.includes('/')));
}
