import { QueueLockError } from '@queuelock/core/backend';
import { leaseHex } from './keys.ts';
import type { Lease } from './session.ts';

/** What a session that is resumed needs to know, besides a backend with the same hosts and prefix. */
interface Noted {
  /** In hexadecimal. */
  readonly lease: string;
  readonly ttlMs: number;
  readonly prefix: string;
}

const LEASE = /^[1-9a-f][0-9a-f]{0,15}$/;

/** No secret by itself: whoever can use it may end any lease. */
export function writeResumption({ id, ttlMs }: Lease, prefix: string): string {
  return JSON.stringify({ lease: leaseHex(id), ttlMs, prefix } satisfies Noted);
}

/** Throws `INVALID_ARGUMENT` without repeating the text, which may be the secret of another backend. */
export function readResumption(resumption: string, prefix: string): Lease {
  const { lease, ttlMs, prefix: noted } = parse(resumption);
  if (typeof lease !== 'string' || !LEASE.test(lease) || typeof ttlMs !== 'number' || !(ttlMs > 0))
    throw refused("is what an etcd session's `resumption` was");
  if (noted !== prefix)
    throw refused(
      `is of a backend with the same prefix, ${JSON.stringify(prefix)} and not ${JSON.stringify(noted)}`,
    );
  return { id: BigInt.asIntN(64, BigInt(`0x${lease}`)).toString(), ttlMs };
}

function parse(resumption: string): Partial<Record<keyof Noted, unknown>> {
  try {
    return Object(JSON.parse(resumption)) as Partial<Record<keyof Noted, unknown>>;
  } catch {
    return {};
  }
}

function refused(rule: string): QueueLockError {
  return new QueueLockError('INVALID_ARGUMENT', `resumption ${rule}`);
}
