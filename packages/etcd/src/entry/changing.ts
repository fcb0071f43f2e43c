import { QueueLockError } from '@queuelock/core/backend';
import type { IRequestOp } from '../protocol/messages.ts';
import type { Connection } from '../server/connection.ts';
import { known } from './entered.ts';
import type { Entry } from './entry.ts';
import { createdAt, readMetadata, modifiedBy, putKeepingLease } from '../queue/txn.ts';

/** A request to give one entry a new value. */
export interface Change {
  readonly queue: string;
  readonly id: string;
  readonly value: string;
}

/** An entry's new value, and further operations that the same transaction executes. */
export interface NewValue {
  readonly value: string;
  /** Operations that the transaction executes besides the write of the value. */
  readonly more?: readonly IRequestOp[];
}

// Maximum number of attempts to change an entry. An attempt fails if another client writes the entry after this client's previous response.
const ATTEMPTS = 5;

/**
 * Writes the value of an entry, unless this process requested a later change meanwhile. Resolves with whether the entry exists. The
 * transaction compares the key's last revision, so a request that arrives after a later change does nothing.
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
