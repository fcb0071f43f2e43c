import type { Ownership } from '@queuelock/core';
import { checkedObject, invalidArgument, type QueueLockError } from '@queuelock/core/backend';

type Proof = 'key' | 'name' | 'token';

/**
 * Who writes: an `Ownership`, or what of one a fence needs, kept beside a write that is prepared while the lock is held. It is
 * exclusive: the compiler refuses a `SharedOwnership`, of a reader or a permit; where it cannot know (a `mode` in a variable, a `claim`, a lock
 * that was downgraded) `INVALID_ARGUMENT` tells when it is used.
 */
export type FencingHold<Needs extends Proof = Proof> =
  | Ownership
  | (Pick<Ownership, Needs> &
      Partial<Pick<Ownership, Proof>> & {
        /** As in `Ownership.shared`. */
        readonly shared?: false;
        /** Of a semaphore it would be another number. */
        readonly limit?: 1;
      });

/** The largest token that a signed column of 64 bits takes; tokens of etcd and ZooKeeper are never larger. */
export const MAX_INT64: bigint = 2n ** 63n - 1n;
/** The largest token that a header carries. */
export const MAX_UINT64: bigint = 2n ** 64n - 1n;
const MAX_NAME_BYTES = 512;

/** The token of a hold, once it is sure to be an exclusive one. */
export function tokenOf(hold: FencingHold<'token'>, max: bigint): bigint {
  // Also those that the compiler cannot tell: `shared` of an ownership is true in a read lock.
  const { shared, limit }: { shared?: unknown; limit?: unknown } = checkedObject('hold', hold);
  if (shared === true) throw notExclusive('a reader');
  if (limit !== undefined && limit !== 1)
    throw notExclusive(typeof limit === 'number' ? `a permit of ${String(limit)}` : 'a permit');
  return checkToken(hold.token, max);
}

/** The name, where it is known. */
export function named({ name }: { readonly name?: string }): { readonly name?: string } {
  return name === undefined ? {} : { name };
}

/** The hold in a sentence. */
export function nameOf({ name, token }: { readonly name?: string; readonly token: bigint }): string {
  return `the hold${name === undefined ? '' : ` of ${JSON.stringify(name)}`} with token ${String(token)}`;
}

function notExclusive(what: string): QueueLockError {
  return invalidArgument(
    'hold',
    what,
    'is exclusive: of several holders at a time, the one with the largest token would shut out the rest',
  );
}

/** The token, once it is sure to be one. */
export function checkToken(token: unknown, max: bigint): bigint {
  if (typeof token !== 'bigint' || token <= 0n || token > max) {
    throw invalidArgument('token', token, `is a bigint from 1 to ${String(max)}, as in ownership.token`);
  }
  return token;
}

/** The name, once it is sure to be one of a lock. */
export function checkName(name: unknown): string {
  if (!isLockName(name)) {
    throw invalidArgument('name', name, `is well-formed text of 1 to ${String(MAX_NAME_BYTES)} bytes`);
  }
  return name;
}

/** Whether a lock can have this name, as far as every backend agrees. */
export function isLockName(name: unknown): name is string {
  if (typeof name !== 'string' || name === '' || Buffer.byteLength(name) > MAX_NAME_BYTES) return false;
  // A lone surrogate has no bytes of its own: two such names would be one.
  return Buffer.from(name).toString() === name;
}
