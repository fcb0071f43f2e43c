// The parts of etcd's transactions that this package uses. Numbers of 64 bits are decimal text.
import type { ICompare, IRangeRequest, IRequestOp } from '../protocol/messages.ts';
import type { KeyRange } from './keys.ts';

/** One key, or a range of keys. */
export interface Target {
  readonly key: Buffer;
  readonly range_end?: Buffer;
}

/** Holds if the key does not exist. For a range: if no key exists in it. */
export function absent(target: Target): ICompare {
  return { target: 'Create', result: 'Equal', create_revision: '0', ...target };
}

/** Holds if the key exists and was created at this revision. */
export function createdAt(key: Buffer, revision: bigint): ICompare {
  return { target: 'Create', result: 'Equal', create_revision: revision.toString(), key };
}

/** Holds if the key was last written at this revision; 0: if it does not exist. */
export function modifiedAt(key: Buffer, revision: bigint): ICompare {
  return { target: 'Mod', result: 'Equal', mod_revision: revision.toString(), key };
}

/** Holds if the key was last written at this revision or before. */
export function modifiedBy(key: Buffer, revision: bigint): ICompare {
  return { target: 'Mod', result: 'Less', mod_revision: (revision + 1n).toString(), key };
}

/** Compares the number of writes since the creation of the key. A key that does not exist has 0. */
export function versionIs(key: Buffer, result: 'Greater' | 'Less', version: number): ICompare {
  return { target: 'Version', result, version: version.toString(), key };
}

/** Holds if the key exists and has this value. */
export function valueIs(key: Buffer, value: Buffer): ICompare {
  return { target: 'Value', result: 'Equal', value, key };
}

/** Writes a key on the lease. */
export function put(key: Buffer, value: string, lease: string): IRequestOp {
  return { request_put: { key, value: Buffer.from(value), lease } };
}

/** Writes a key without a lease. */
export function putWithoutLease(key: Buffer, value = ''): IRequestOp {
  return { request_put: { key, value: Buffer.from(value) } };
}

/** Writes a key and keeps its lease. A put without a lease would detach the lease. */
export function putKeepingLease(key: Buffer, value: string): IRequestOp {
  return { request_put: { key, value: Buffer.from(value), ignore_lease: true } };
}

/** Holds if the key exists and has another value. */
export function isAnother(key: Buffer, value: Buffer): ICompare {
  return { target: 'Value', result: 'NotEqual', value, key };
}

export function remove(key: Buffer): IRequestOp {
  return { request_delete_range: { key } };
}

/** Reads one key without its value. */
export function readMetadata(key: Buffer): IRequestOp {
  return { request_range: { key, keys_only: true } };
}

/** Reads one key with its value. */
export function read(key: Buffer): IRequestOp {
  return { request_range: { key } };
}

/** Reads all keys in a range without their values. */
export function readKeys(target: Target): IRequestOp {
  return { request_range: { keys_only: true, ...target } };
}

/** Returns a read of a queue's keys, the newest first. A limit of 0 means all. */
export function latestFirst(range: KeyRange, limit: number): IRangeRequest {
  return { sort_target: 'Create', sort_order: 'Descend', keys_only: true, limit, ...range };
}
