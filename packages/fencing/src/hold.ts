import type { Ownership } from '@queuelock/core';
import { invalidArgument } from '@queuelock/core/backend';

/** Who writes: what of an `Ownership` a fence needs. Keep it beside a write that is prepared while the lock is held. */
export type Hold = Pick<Ownership, 'key' | 'name' | 'token'>;

/** The largest token that a signed column of 64 bits takes; tokens of etcd and ZooKeeper are never larger. */
export const MAX_INT64: bigint = 2n ** 63n - 1n;
/** The largest token that a header carries. */
export const MAX_UINT64: bigint = 2n ** 64n - 1n;
const MAX_NAME_BYTES = 512;

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
