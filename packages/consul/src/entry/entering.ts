import { entryLost, turnOf, type EntriesAhead, type EntrySpec } from '@queuelock/core/backend';
import { MAX_OPERATIONS, type KvOperation } from '../driver/requests.ts';
import type { KvPair } from '../driver/responses.ts';
import { aheadOf, contendersIn, textOf, type Contender } from '../queue/entries.ts';
import type { Keys } from '../queue/keys.ts';
import { isUnknown, type Connection } from '../server/connection.ts';
import type { SessionKey } from '../server/session-key.ts';
import type { Entry } from './entry.ts';

/** An order number that is larger than that of every entry. The order number of an entry is an index of Consul, which is less than 2^53. */
const AFTER_ALL = 2n ** 64n;

/** The objects that the functions of this file use to read and change entries. */
export interface EntryTools {
  readonly connection: Connection;
  readonly keys: Keys;
  /** Id of the session to which the entries belong. */
  readonly session: string;
  readonly sessionKey: SessionKey;
  /**
   * Returns the single key of a queue, which programs such as `consul lock` use as the lock. Returns `undefined` for a queue without a single key.
   */
  readonly singleKeyOf: (queue: string) => string | undefined;
}

/** An entry of the session, and the properties that the current call requests for it. */
export interface Newcomer {
  readonly entry: Entry;
  readonly spec: EntrySpec;
}

/** An entry as it is stored, and the entries ahead of it. */
export interface Position {
  readonly own: Contender;
  /** All entries ahead of the session's own entry `own` that conflict with it. */
  readonly ahead: EntriesAhead<Contender>;
}

/**
 * Enters distinct queues with one entry each, either all of them or none. If an earlier call has already added the entries, finds them instead. One
 * transaction creates all keys, so they have the same index. If two calls enter several common queues, the call whose transaction has the smaller
 * index is ahead in all of them. So two calls cannot deadlock. Entries of a session in the same queue come from different calls, because one call
 * names each queue only once.
 * @throws {QueueLockError} `ENTRY_LOST` when one of the entries was in its queue before and no longer is; `SESSION_LOST`
 */
export async function enter(tools: EntryTools, newcomers: readonly Newcomer[]): Promise<readonly Position[]> {
  const entries = newcomers.map(({ entry }) => entry);
  await settle(tools, entries);
  const isNew = entries.every(({ state }) => state === 'absent');
  return isNew ? create(tools, newcomers) : find(tools, newcomers);
}

/** Makes sure that no earlier request can still add the given entries to their queues, and reads which of them are in their queues. */
export async function settle(
  { sessionKey, connection, session }: EntryTools,
  entries: readonly Entry[],
): Promise<void> {
  const unknown = entries.filter(({ state }) => state === 'uncertain' || state === 'unread');
  if (unknown.some(({ state }) => state === 'uncertain')) await sessionKey.invalidateEarlier();
  for (const entry of unknown) {
    const { pairs } = await connection.read(entry.key, { isConsistent: true });
    const [contender] = contendersIn(pairs.filter((pair) => pair.session === session));
    if (contender) entry.found(contender);
    else entry.state = 'absent';
  }
}

async function create(tools: EntryTools, newcomers: readonly Newcomer[]): Promise<readonly Position[]> {
  const { session, sessionKey, keys } = tools;
  const locks = newcomers.map(({ entry, spec }): KvOperation => ({
    verb: 'lock',
    key: entry.key,
    text: textOf(spec),
    session,
  }));
  const reads = newcomers.map(({ spec }): KvOperation => ({ verb: 'get-tree', key: keys.queue(spec.queue) }));
  // Leaves room for one more operation, because `sessionKey.txn` adds an operation that checks the session.
  const isReadToo = locks.length + reads.length < MAX_OPERATIONS;
  for (const { entry } of newcomers) entry.state = 'uncertain';
  const result = await sessionKey.txn(isReadToo ? [...locks, ...reads] : locks).catch((error: unknown) => {
    if (!isUnknown(error)) for (const { entry } of newcomers) entry.state = 'absent';
    throw error;
  });
  if (!result.isDone) {
    for (const { entry } of newcomers) entry.state = 'absent';
    throw entryLost(newcomers.map(({ entry }) => entry.id).join(', '));
  }
  for (const { entry, spec } of newcomers) entry.found({ ...spec, permits: spec.permits ?? 1 });
  return isReadToo ? positionsIn(lastOfEach(result.pairs), newcomers, tools) : find(tools, newcomers);
}

/**
 * Reads entries that are already in their queues, with the conflicting entries ahead of them. If one of them is missing, removes the others and
 * throws.
 */
async function find(tools: EntryTools, newcomers: readonly Newcomer[]): Promise<readonly Position[]> {
  const { connection, keys, sessionKey, session } = tools;
  const reads = await Promise.all(
    newcomers.map(({ spec }) =>
      connection.read(keys.queue(spec.queue), { isConsistent: true, isTree: true }),
    ),
  );
  const pairs = reads.flatMap((read) => read.pairs);
  const missing = newcomers.filter(({ entry }) => !pairs.some((pair) => isOf(pair, entry, tools)));
  if (missing.length === 0) return positionsIn(pairs, newcomers, tools);
  for (const { entry } of newcomers)
    if (missing.every((other) => other.entry !== entry))
      await sessionKey.txn([
        { verb: 'check-session', key: entry.key, session },
        { verb: 'delete', key: entry.key },
      ]);
  for (const { entry } of newcomers) entry.state = 'absent';
  throw entryLost(missing.map(({ entry }) => entry.id).join(', '));
}

/**
 * Returns the last result for each key of a transaction. A key that was locked and then read has two results, and only the result of the read contains
 * the value.
 */
function lastOfEach(pairs: readonly KvPair[]): readonly KvPair[] {
  return [...new Map(pairs.map((pair) => [pair.key, pair])).values()];
}

function isOf(pair: KvPair, { key }: Entry, { session }: EntryTools): boolean {
  return pair.key === key && pair.session === session;
}

/** Finds several entries among the keys of their queues, with the conflicting entries ahead of each. */
function positionsIn(
  pairs: readonly KvPair[],
  newcomers: readonly Newcomer[],
  tools: EntryTools,
): readonly Position[] {
  return newcomers.map(({ entry }) => positionIn(pairs, entry, tools));
}

/**
 * Finds an entry among the keys of its queue, with the conflicting entries ahead of it.
 * @throws {QueueLockError} `ENTRY_LOST` when the entry is not among the keys
 */
function positionIn(pairs: readonly KvPair[], { key, queue }: Entry, { keys }: EntryTools): Position {
  const directory = keys.queue(queue);
  const contenders = contendersIn(pairs.filter((pair) => pair.key.startsWith(directory)));
  const own = contenders.find((contender) => contender.key === key);
  if (!own) throw entryLost(key);
  return { own, ahead: aheadOf(contenders, own) };
}

/** Reads the conflicting entries ahead of an entry. @throws {QueueLockError} `ENTRY_LOST` */
export async function readAhead(tools: EntryTools, entry: Entry): Promise<EntriesAhead<Contender>> {
  const directory = tools.keys.queue(entry.queue);
  const { pairs } = await tools.connection.read(directory, { isConsistent: true, isTree: true });
  if (!pairs.some((pair) => isOf(pair, entry, tools))) throw entryLost(entry.id);
  return positionIn(pairs, entry, tools).ahead;
}

/** Removes an entry, together with its trace and the single key that is locked for it. Returns whether the entry was in the queue. */
export async function leave(tools: EntryTools, entry: Entry): Promise<boolean> {
  const { sessionKey, session, keys } = tools;
  await settle(tools, [entry]);
  if (entry.state === 'absent') return false;
  const removal: readonly KvOperation[] = [
    { verb: 'check-session', key: entry.key, session },
    { verb: 'delete', key: keys.traces(entry.queue) + entry.id },
    { verb: 'delete', key: entry.key },
  ];
  let result = await sessionKey.txn([...removal, ...(await unlocked(tools, entry))]);
  // The transaction failed because another client has taken the single key meanwhile. So only the entry is
  // removed.
  if (!result.isDone && result.failedAt >= removal.length) result = await sessionKey.txn(removal);
  entry.state = 'absent';
  return result.isDone;
}

/**
 * Returns the operations that delete the single key if it is locked for this entry. Another entry of the same session may have locked it, and still
 * need it.
 */
async function unlocked({ connection, session }: EntryTools, entry: Entry): Promise<readonly KvOperation[]> {
  const key = entry.singleKey;
  if (key === undefined) return [];
  const { pairs } = await connection.read(key, { isConsistent: true });
  const [pair] = pairs;
  if (pair?.session !== session || pair.text !== entry.key) return [];
  return [
    { verb: 'check-index', key, index: pair.modifyIndex },
    { verb: 'delete', key },
  ];
}

/** Replaces the value of an entry, and makes the entry shared on request. Returns whether the entry was in the queue. */
export async function change(
  tools: EntryTools,
  entry: Entry,
  { value, shared }: { readonly value: string; readonly shared: boolean },
): Promise<boolean> {
  const { sessionKey, session } = tools;
  await settle(tools, [entry]);
  if (entry.state === 'absent') return false;
  const { limit, permits } = entry;
  const result = await sessionKey.txn([
    { verb: 'check-session', key: entry.key, session },
    { verb: 'lock', key: entry.key, text: textOf({ shared, limit, permits, value }), session },
  ]);
  if (result.isDone) entry.shared = shared;
  return result.isDone;
}

/** Returns whether a new entry would have to wait behind the entries that are in the queue now. */
export async function wouldWait({ connection, keys }: EntryTools, spec: EntrySpec): Promise<boolean> {
  const { pairs } = await connection.read(keys.queue(spec.queue), { isConsistent: true, isTree: true });
  const { shared, limit, permits = 1 } = spec;
  const last = { key: keys.entry(spec.queue, spec.id), order: AFTER_ALL, shared };
  return !turnOf(aheadOf(contendersIn(pairs), last), { limit, permits }).admitted;
}
