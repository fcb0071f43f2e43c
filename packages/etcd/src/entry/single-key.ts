// npm etcd3's `Lock`, python-etcd3 and etcd3gw know no queue: who creates the one key has the lock. While such clients are still about, an
// entry of ours takes that key too when its turn has come. Its value is the entry's key, so that a removal tells whose it is.
import { invalidArgument, type QueueLockError } from '@queuelock/core/backend';
import type { IRequestOp, ITxnRequest, ITxnResponse } from '../protocol/messages.ts';
import type { KeyRef } from '../queue/ahead.ts';
import { known, type Newcomer } from './entered.ts';
import { removedByOthers } from './entry.ts';
import { isOwnKey, queuePrefix } from '../queue/keys.ts';
import type { SingleKeyOf } from '../api/naming.ts';
import { absent, createdAt, look, put, remove, valueIs } from '../queue/txn.ts';

/** An entry whose turn has come. */
export interface Claimant {
  readonly entry: { readonly key: Buffer; readonly single: Buffer | undefined };
  readonly order: bigint;
}

/** What became of an attempt to take the single keys of several entries, all or none. */
export interface Attempt {
  /** Whether they are all taken. */
  readonly held: boolean;
  /** The keys of those that have theirs. Some only if the others were removed by somebody, or a session was resumed. */
  readonly ours: ReadonlyMap<Claimant, KeyRef>;
  /** One that somebody else has. */
  readonly taken: KeyRef | undefined;
  /** The store's revision that this was seen at. */
  readonly revision: bigint;
}

/** Asks the user's function. Throws `INVALID_ARGUMENT` for keys that would be in the way of entries. */
export function singleKeyFor(
  singleKeyOf: SingleKeyOf | undefined,
  { prefix, queue }: { readonly prefix: string; readonly queue: string },
): Buffer | undefined {
  const key: unknown = singleKeyOf?.(queue);
  if (key === undefined) return undefined;
  const what = `singleKey(${JSON.stringify(queue)})`;
  if (typeof key !== 'string' || key === '' || Buffer.from(key).toString() !== key)
    throw invalidArgument(what, key, 'is undefined, or a key as stored: well-formed Unicode, not empty');
  if (key.startsWith(queuePrefix(prefix, queue)) || isOwnKey(prefix, key))
    throw invalidArgument(what, key, 'is a key outside of the queue and of what queuelock keeps of it');
  return Buffer.from(key);
}

/** One key cannot stand for several who hold the queue at a time; and who enters by the tail of a queue waits for one alone. */
export function exclusiveOnly({ entry, spec: { queue, shared, limit } }: Newcomer): QueueLockError {
  const rule = entry.single
    ? `as long as ${JSON.stringify(queue)} has a single key (option singleKey)`
    : 'in a queue with naming fast, which is for locks only';
  if (shared) return invalidArgument('mode', 'shared', `is 'exclusive' ${rule}`);
  return invalidArgument('limit', limit, `is 1 ${rule}`);
}

/** Takes the keys that are not in `ours` yet, if nobody has any of them and all of the entries are still there. */
export function takingTxn(
  claimants: readonly Claimant[],
  { ours, lease }: { readonly ours: Attempt['ours']; readonly lease: string },
): ITxnRequest {
  const singles = singlesOf(claimants);
  return {
    compare: [
      ...claimants.map(({ entry, order }) => createdAt(entry.key, order)),
      ...singles.map(({ one, single }) => {
        const created = ours.get(one);
        return created ? createdAt(single, BigInt(created.createRevision)) : absent({ key: single });
      }),
    ],
    success: singles
      .filter(({ one }) => !ours.has(one))
      .map(({ entry, single }) => put(single, entry.key.toString(), lease)),
    failure: [
      ...claimants.map(({ entry }) => look(entry.key)),
      ...singles.map(({ single }) => ({ request_range: { key: single } })),
    ],
  };
}

/** Throws `ENTRY_LOST` when one of the entries is not there any more. */
export function readTaking(
  { succeeded, header, responses }: ITxnResponse,
  { claimants, ours }: { readonly claimants: readonly Claimant[]; readonly ours: Attempt['ours'] },
): Attempt {
  const singles = singlesOf(claimants);
  const revision = BigInt(header.revision);
  if (succeeded) return takenAt(claimants, revision, ours);
  const rows = responses.map(({ response_range }) => known(response_range).kvs[0]);
  if (claimants.some(({ order }, i) => rows[i]?.create_revision !== order.toString()))
    throw removedByOthers();
  const found = new Map<Claimant, KeyRef>();
  let taken: KeyRef | undefined;
  singles.forEach(({ one, entry, single }, i) => {
    const row = rows[claimants.length + i];
    if (!row) return;
    const ref = { key: single, createRevision: row.create_revision };
    if (row.value.equals(entry.key)) found.set(one, ref);
    else taken ??= ref;
  });
  return { held: found.size === singles.length, ours: found, taken, revision };
}

/** All taken: those that were not before, at that revision. */
export function takenAt(
  claimants: readonly Claimant[],
  revision: bigint,
  before: Attempt['ours'] = new Map(),
): Attempt {
  const createRevision = revision.toString();
  const refs = singlesOf(claimants).map(
    ({ one, single }) => [one, before.get(one) ?? { key: single, createRevision }] as const,
  );
  return { held: true, ours: new Map(refs), taken: undefined, revision };
}

/** As part of a removal of the entry with this key: takes the single key away if it is the entry's. */
export function givingBack(single: Buffer | undefined, entryKey: Buffer): IRequestOp[] {
  if (!single) return [];
  return [{ request_txn: { compare: [valueIs(single, entryKey)], success: [remove(single)] } }];
}

/** Those that have a single key, and that. */
export function singlesOf<T extends { readonly entry: { readonly single: Buffer | undefined } }>(
  ones: readonly T[],
): readonly (T & { readonly one: T; readonly single: Buffer })[] {
  return ones.flatMap((one) => (one.entry.single ? [{ ...one, one, single: one.entry.single }] : []));
}
