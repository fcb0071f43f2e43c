// The parts of etcd's transactions that this package uses. Numbers of 64 bits are decimal text.
import type { ICompare, IRangeRequest, IRequestOp } from '../protocol/messages.ts';
import type { KeyRange } from './keys.ts';

/** One key, or a range of keys. */
export interface Target {
  readonly key: Buffer;
  readonly range_end?: Buffer;
}

/** A condition of a transaction: the key does not exist, or no key in the range exists. */
export function absent(target: Target): ICompare {
  return { target: 'Create', result: 'Equal', create_revision: '0', ...target };
}

/** A condition of a transaction: the key exists, and was created at the given revision. */
export function createdAt(key: Buffer, revision: bigint): ICompare {
  return { target: 'Create', result: 'Equal', create_revision: revision.toString(), key };
}

/** A condition of a transaction: the key was last written at the given revision. The revision 0 means that the key does not exist. */
export function modifiedAt(key: Buffer, revision: bigint): ICompare {
  return { target: 'Mod', result: 'Equal', mod_revision: revision.toString(), key };
}

/** A condition of a transaction: the key was last written at the given revision or earlier. */
export function modifiedBy(key: Buffer, revision: bigint): ICompare {
  return { target: 'Mod', result: 'Less', mod_revision: (revision + 1n).toString(), key };
}

/** A condition of a transaction on the number of writes since the key was created. A key that does not exist has 0. */
export function versionIs(key: Buffer, result: 'Greater' | 'Less', version: number): ICompare {
  return { target: 'Version', result, version: version.toString(), key };
}

/** A condition of a transaction: the key exists and has the given value. */
export function valueIs(key: Buffer, value: Buffer): ICompare {
  return { target: 'Value', result: 'Equal', value, key };
}

/** An operation of a transaction that writes a key on a lease. */
export function put(key: Buffer, value: string, lease: string): IRequestOp {
  return { request_put: { key, value: Buffer.from(value), lease } };
}

/** An operation of a transaction that writes a key without a lease. */
export function putWithoutLease(key: Buffer, value = ''): IRequestOp {
  return { request_put: { key, value: Buffer.from(value) } };
}

/** An operation of a transaction that writes a key and keeps its lease. Without `ignore_lease`, a write would detach the key from its lease. */
export function putKeepingLease(key: Buffer, value: string): IRequestOp {
  return { request_put: { key, value: Buffer.from(value), ignore_lease: true } };
}

/** A condition of a transaction: the key exists and has another value than the given one. */
export function isAnother(key: Buffer, value: Buffer): ICompare {
  return { target: 'Value', result: 'NotEqual', value, key };
}

export function remove(key: Buffer): IRequestOp {
  return { request_delete_range: { key } };
}

/** An operation of a transaction that reads one key without its value. */
export function readMetadata(key: Buffer): IRequestOp {
  return { request_range: { key, keys_only: true } };
}

/** An operation of a transaction that reads one key with its value. */
export function read(key: Buffer): IRequestOp {
  return { request_range: { key } };
}

/** An operation of a transaction that reads all keys in a range, without their values. */
export function readKeys(target: Target): IRequestOp {
  return { request_range: { keys_only: true, ...target } };
}

/** Returns the operation that reads the keys of a queue, the newest first. A limit of 0 means all. */
export function latestFirst(range: KeyRange, limit: number): IRangeRequest {
  return { sort_target: 'Create', sort_order: 'Descend', keys_only: true, limit, ...range };
}
