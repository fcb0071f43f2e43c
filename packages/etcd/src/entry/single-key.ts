// npm etcd3's `Lock`, python-etcd3 and etcd3gw have no queue: the client that creates one certain key has the
// lock. While such clients are in use, an admitted entry of this package creates that key too. The key's
// value is the key of the entry, so that a removal can check to which entry it belongs.
import { invalidArgument, type QueueLockError } from '@queuelock/core/backend';
import type { IRequestOp, ITxnRequest, ITxnResponse } from '../protocol/messages.ts';
import type { KeyRef } from '../queue/ahead.ts';
import { known, type Newcomer } from './entered.ts';
import { removedByOtherClient } from './entry-end.ts';
import { isOwnKey, queuePrefix } from '../queue/keys.ts';
import type { NamingOf, SingleKeyOf } from '../api/naming.ts';
import { absent, createdAt, readMetadata, put, remove, valueIs } from '../queue/txn.ts';

/** An entry that must create its single key once it is admitted. */
export interface Claimant {
  readonly entry: { readonly key: Buffer; readonly single: Buffer | undefined };
  readonly order: bigint;
}

/** The result of an attempt to create the single keys of several entries. One transaction creates all of them or none. */
export interface Attempt {
  /** Whether the single keys of all entries now exist and belong to these entries. */
  readonly held: boolean;
  /** Maps each entry to its single key, if that key exists and belongs to the entry. Other entries are missing. */
  readonly ours: ReadonlyMap<Claimant, KeyRef>;
  /** A single key that another client has created. The attempt failed because of it. */
  readonly taken: KeyRef | undefined;
  /** The revision of the store when the client attempted to create the single keys. */
  readonly revision: bigint;
}

/** Calls the application's function `singleKey`. Throws `INVALID_ARGUMENT` for a key that would conflict with keys of entries. */
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
    throw invalidArgument(what, key, 'is a key outside of the queue and of the keys that queuelock keeps');
  return Buffer.from(key);
}

/** Refuses entries with naming `fast` in a queue with a single key. @throws {QueueLockError} `INVALID_ARGUMENT` */
export function checkNaming(
  options: {
    readonly prefix: string;
    readonly singleKeyOf?: SingleKeyOf | undefined;
    readonly namingOf: NamingOf;
  },
  queue: string,
): void {
  const single = singleKeyFor(options.singleKeyOf, { prefix: options.prefix, queue });
  const naming = options.namingOf(queue);
  if (single && naming === 'fast')
    throw invalidArgument(
      'naming',
      naming,
      `is go as long as ${JSON.stringify(queue)} has a single key (option singleKey)`,
    );
}

/**
 * Returns the error for an entry that is not exclusive, in a queue with a single key or with naming `fast`. A single key cannot belong to several
 * holders, and an entry with naming `fast` waits for one entry only.
 */
export function exclusiveOnly({ entry, spec: { queue, shared, limit } }: Newcomer): QueueLockError {
  const rule = entry.single
    ? `as long as ${JSON.stringify(queue)} has a single key (option singleKey)`
    : 'in a queue with naming fast, which is for locks only';
  if (shared) return invalidArgument('mode', 'shared', `is 'exclusive' ${rule}`);
  return invalidArgument('limit', limit, `is 1 ${rule}`);
}

/**
 * Returns the transaction that creates the missing single keys of the entries. It fails if another client has created one of these keys, or if one of
 * the entries does not exist.
 */
export function creationOfSingleKeys(
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
      ...claimants.map(({ entry }) => readMetadata(entry.key)),
      ...singles.map(({ single }) => ({ request_range: { key: single } })),
    ],
  };
}

/**
 * Reads the response to the transaction that creates the single keys of several entries. Throws `ENTRY_LOST` if one of these entries no longer
 * exists.
 */
export function readCreation(
  { succeeded, header, responses }: ITxnResponse,
  { claimants, ours }: { readonly claimants: readonly Claimant[]; readonly ours: Attempt['ours'] },
): Attempt {
  const singles = singlesOf(claimants);
  const revision = BigInt(header.revision);
  if (succeeded) return allCreatedAt(claimants, revision, ours);
  const rows = responses.map(({ response_range }) => known(response_range).kvs[0]);
  if (claimants.some(({ order }, i) => rows[i]?.create_revision !== order.toString()))
    throw removedByOtherClient();
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

/** Returns the result of the transaction that has created all missing single keys. `revision` is the store's revision of that transaction. */
export function allCreatedAt(
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

/** Returns the operation that deletes a single key if it belongs to the entry with the given key. */
export function deleteSingleKey(single: Buffer | undefined, entryKey: Buffer): IRequestOp[] {
  if (!single) return [];
  return [{ request_txn: { compare: [valueIs(single, entryKey)], success: [remove(single)] } }];
}

/** Returns those entries that have a single key, each together with that key. */
export function singlesOf<T extends { readonly entry: { readonly single: Buffer | undefined } }>(
  ones: readonly T[],
): readonly (T & { readonly one: T; readonly single: Buffer })[] {
  return ones.flatMap((one) => (one.entry.single ? [{ ...one, one, single: one.entry.single }] : []));
}
