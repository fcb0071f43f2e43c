import { QueueLockError } from '@queuelock/core/backend';
import type { IRequestOp } from '../protocol/messages.ts';
import type { Connection } from '../server/connection.ts';
import { known } from './entered.ts';
import type { Entry } from './entry.ts';
import { createdAt, readMetadata, modifiedBy, putKeepingLease } from '../queue/txn.ts';

/** A new value for one entry. */
export interface Change {
  readonly queue: string;
  readonly id: string;
  readonly value: string;
}

/** The new value of an entry, and the operations that are committed with it. */
export interface NewValue {
  readonly value: string;
  /** Further operations of the same transaction. */
  readonly more?: readonly IRequestOp[];
}

// Maximum number of attempts. Each further attempt means that another client wrote the entry after the previous response.
const ATTEMPTS = 5;

/**
 * Writes the value of an entry, unless a later change was requested meanwhile. Resolves with whether the entry exists. A request that arrives
 * after a later one changes nothing, since the key was then written after the newest revision known when the request was sent.
 */
export async function changeEntry(
  connection: Connection,
  entry: Entry,
  { value, more = [] }: NewValue,
): Promise<boolean> {
  const { key, order } = entry;
  if (order === undefined) return false;
  const change = (entry.changes += 1);
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const { succeeded, header, responses } = await connection.ask('changing an entry', (etcd, options) => {
      const compare = [createdAt(key, order), modifiedBy(key, connection.revision)];
      const success = entry.changes > change ? [...more] : [putKeepingLease(key, value), ...more];
      return etcd.txn({ compare, success, failure: [readMetadata(key)] }, options);
    });
    if (succeeded) {
      if (entry.changes === change) entry.wrote(value, BigInt(header.revision));
      return true;
    }
    const [row] = known(responses[0]?.response_range).kvs;
    if (row?.create_revision !== order.toString()) return false;
    if (entry.changes > change && more.length === 0) return true;
  }
  throw new QueueLockError(
    'UNAVAILABLE',
    `changing an entry: other clients have changed it ${ATTEMPTS} times meanwhile`,
  );
}
