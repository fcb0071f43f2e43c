import type { Ownership } from '@queuelock/core';
import { checkedObject, invalidArgument, type QueueLockError } from '@queuelock/core/backend';

type Proof = 'key' | 'name' | 'token';

/**
 * The hold that a write belongs to: an `Ownership`, or an object with only those of its members that the
 * check of the write needs. Such an object can be stored beside a write that is prepared while the lock is
 * held.
 *
 * The hold is exclusive. The compiler rejects a `SharedOwnership`, which readers and permits of a semaphore
 * have. Where the compiler cannot know (a `mode` in a variable, a `claim`, a lock that was downgraded), the
 * call throws `INVALID_ARGUMENT`.
 */
export type FencingHold<Needs extends Proof = Proof> =
  | Ownership
  | (Pick<Ownership, Needs> &
      Partial<Pick<Ownership, Proof>> & {
        /** `false` or not set, as `Ownership.shared` is for an exclusive hold. */
        readonly shared?: false;
        /** The limit of the lock: 1 or not set. A semaphore has a larger limit. */
        readonly limit?: 1;
      });

/** The largest token that fits into a signed 64-bit column. Tokens of etcd and ZooKeeper are never larger. */
export const MAX_INT64: bigint = 2n ** 63n - 1n;
/** The largest token that the header `fencing-token` can carry. */
export const MAX_UINT64: bigint = 2n ** 64n - 1n;
const MAX_NAME_BYTES = 512;

/**
 * Returns the token of a hold after checking that the hold is exclusive.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a shared hold, a permit, or a token that is not a bigint from 1 to `max`
 */
export function tokenOf(hold: FencingHold<'token'>, max: bigint): bigint {
  // Checks at run time what the types cannot express: `shared` of an ownership is true in a read lock.
  const { shared, limit }: { shared?: unknown; limit?: unknown } = checkedObject('hold', hold);
  if (shared === true) throw notExclusive('a reader');
  if (limit !== undefined && limit !== 1)
    throw notExclusive(typeof limit === 'number' ? `a permit of ${String(limit)}` : 'a permit');
  return checkToken(hold.token, max);
}

/** Returns an object that has the lock's name, or an empty object when the name is unknown. */
export function optionalName({ name }: { readonly name?: string }): { readonly name?: string } {
  return name === undefined ? {} : { name };
}

/** Describes the hold, by the lock's name and the token, for the message of an error. */
export function describeHold({ name, token }: { readonly name?: string; readonly token: bigint }): string {
  return `the hold${name === undefined ? '' : ` of ${JSON.stringify(name)}`} with token ${String(token)}`;
}

function notExclusive(what: string): QueueLockError {
  return invalidArgument(
    'hold',
    what,
    'is exclusive: of several holders at a time, the one with the largest token would block the others',
  );
}

/** Returns the fencing token after checking that it is a bigint from 1 to `max`. */
export function checkToken(token: unknown, max: bigint): bigint {
  if (typeof token !== 'bigint' || token <= 0n || token > max) {
    throw invalidArgument('token', token, `is a bigint from 1 to ${String(max)}, as in ownership.token`);
  }
  return token;
}

/** Returns the name of a lock after checking that it is valid on every backend. */
export function checkName(name: unknown): string {
  if (!isLockName(name)) {
    throw invalidArgument('name', name, `is well-formed text of 1 to ${String(MAX_NAME_BYTES)} bytes`);
  }
  return name;
}

/** Returns whether the text is a valid name of a lock on every backend. */
export function isLockName(name: unknown): name is string {
  if (typeof name !== 'string' || name === '' || Buffer.byteLength(name) > MAX_NAME_BYTES) return false;
  // Refuses a lone surrogate: it has no encoding of its own in UTF-8, so two names would become the same bytes.
  return Buffer.from(name).toString() === name;
}
