// The parts of etcd's transactions that are used here. 64-bit numbers travel as decimal text.
import type { ICompare, IRangeRequest, IRequestOp } from '../protocol/messages.ts';
import type { KeyRange } from './keys.ts';

/** One key, or a range of them. */
export interface Target {
  readonly key: Buffer;
  readonly range_end?: Buffer;
}

/** Holds when the key does not exist. Over a range: when nothing exists in it. */
export function absent(target: Target): ICompare {
  return { target: 'Create', result: 'Equal', create_revision: '0', ...target };
}

/** Holds when the key exists and was created at that revision. */
export function createdAt(key: Buffer, revision: bigint): ICompare {
  return { target: 'Create', result: 'Equal', create_revision: revision.toString(), key };
}

/** Holds when the key was last written at that revision; 0: when it does not exist. */
export function modifiedAt(key: Buffer, revision: bigint): ICompare {
  return { target: 'Mod', result: 'Equal', mod_revision: revision.toString(), key };
}

/** Holds when the key was last written at that revision or before. */
export function modifiedBy(key: Buffer, revision: bigint): ICompare {
  return { target: 'Mod', result: 'Less', mod_revision: (revision + 1n).toString(), key };
}

/** Compares how often the key was written since it was created; a key that does not exist was written 0 times. */
export function versionIs(key: Buffer, result: 'Greater' | 'Less', version: number): ICompare {
  return { target: 'Version', result, version: version.toString(), key };
}

/** Holds when the key exists and has that value. */
export function valueIs(key: Buffer, value: Buffer): ICompare {
  return { target: 'Value', result: 'Equal', value, key };
}

/** Writes a key that lives as long as the lease. */
export function put(key: Buffer, value: string, lease: string): IRequestOp {
  return { request_put: { key, value: Buffer.from(value), lease } };
}

/** Writes a key that stays until somebody deletes it. */
export function putForGood(key: Buffer, value = ''): IRequestOp {
  return { request_put: { key, value: Buffer.from(value) } };
}

/** Writes a key and leaves it on the lease that it is on. A put that names no lease would detach it. */
export function putKeepingLease(key: Buffer, value: string): IRequestOp {
  return { request_put: { key, value: Buffer.from(value), ignore_lease: true } };
}

/** Holds when the key exists and has another value than that. */
export function isAnother(key: Buffer, value: Buffer): ICompare {
  return { target: 'Value', result: 'NotEqual', value, key };
}

export function remove(key: Buffer): IRequestOp {
  return { request_delete_range: { key } };
}

/** Reads one key without its value. */
export function look(key: Buffer): IRequestOp {
  return { request_range: { key, keys_only: true } };
}

/** Reads one key with its value. */
export function read(key: Buffer): IRequestOp {
  return { request_range: { key } };
}

/** Reads all keys in a range without their values. */
export function lookAt(target: Target): IRequestOp {
  return { request_range: { keys_only: true, ...target } };
}

/** A queue's keys, the latest first. A limit of 0 means all. */
export function latestFirst(range: KeyRange, limit: number): IRangeRequest {
  return { sort_target: 'Create', sort_order: 'Descend', keys_only: true, limit, ...range };
}
