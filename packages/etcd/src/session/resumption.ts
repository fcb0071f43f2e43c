import { QueueLockError } from '@queuelock/core/backend';
import type { DifferingIds } from '../queue/key-ids.ts';
import { leaseHex } from '../queue/keys.ts';
import type { Lease } from './lease.ts';

/** The data with which a process can resume a session: its lease, the prefix of its keys, and ids in keys that differ from those of the entries. */
export interface Resumption {
  readonly lease: Lease;
  readonly prefix: string;
  readonly keyIds: DifferingIds;
}

/** A `Resumption` in the form that is stored as JSON. */
interface StoredResumption {
  /** The id of the session's lease, in hexadecimal. */
  readonly lease: string;
  readonly ttlMs: number;
  readonly prefix: string;
  readonly keyIds: Readonly<Record<string, string>>;
}

const LEASE = /^[1-9a-f][0-9a-f]{0,15}$/;
const ID = /^[0-9a-f]{32}$/;

/**
 * Converts a resumption to text. The text need not be kept secret: a client with access to the cluster can revoke any lease anyway.
 */
export function writeResumption({ lease: { id, ttlMs }, prefix, keyIds }: Resumption): string {
  const noted: StoredResumption = { lease: leaseHex(id), ttlMs, prefix, keyIds: Object.fromEntries(keyIds) };
  return JSON.stringify(noted);
}

/**
 * Parses the text of a resumption. Throws `INVALID_ARGUMENT` without the text in the message, since it may be the secret of another
 * backend.
 */
export function readResumption(resumption: string, prefix: string): Resumption {
  const { lease, ttlMs, prefix: noted, keyIds } = parse(resumption);
  const pairs = Object.entries(Object(keyIds) as object);
  const areIds = pairs.every((pair) => pair.every((id) => typeof id === 'string' && ID.test(id)));
  const isLease = typeof lease === 'string' && LEASE.test(lease);
  if (!isLease || typeof ttlMs !== 'number' || !(ttlMs > 0) || !areIds)
    throw refused('is the text that exportSession() returned for a session on etcd');
  if (noted !== prefix)
    throw refused(
      `is of a backend with the same prefix, ${JSON.stringify(prefix)} and not ${JSON.stringify(noted)}`,
    );
  const id = BigInt.asIntN(64, BigInt(`0x${lease}`)).toString();
  return { lease: { id, ttlMs }, prefix, keyIds: new Map(pairs as [string, string][]) };
}

function parse(resumption: string): Partial<Record<keyof StoredResumption, unknown>> {
  try {
    return Object(JSON.parse(resumption)) as Partial<Record<keyof StoredResumption, unknown>>;
  } catch {
    return {};
  }
}

function refused(rule: string): QueueLockError {
  return new QueueLockError('INVALID_ARGUMENT', `resumption ${rule}`);
}
