import type { Connection } from '../server/connection.ts';
import { readKeys } from '../queue/txn.ts';
import { foundIn, known, ownRow } from './entered.ts';
import type { Entry } from './entry.ts';

/** Reads whether the entry of a resumed session exists, and records what was found. The process that had the session before may have created it. */
export async function recall(
  { connection, lease }: { readonly connection: Connection; readonly lease: string },
  entry: Entry,
): Promise<void> {
  const success = [entry.sought, ...(entry.soughtMark ? [entry.soughtMark] : [])].map(readKeys);
  const { responses } = await connection.ask('reading an entry', (etcd, options) =>
    etcd.txn({ success }, options),
  );
  const [rows, marks] = responses.map(({ response_range }) => known(response_range));
  const own = rows && ownRow(rows, entry);
  if (own?.lease === lease) entry.recognize(foundIn(own, marks?.kvs ?? []));
}
