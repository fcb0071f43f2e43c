import { QueueLockError, isQueueLockError } from '@queuelock/core/backend';
import type { Connection } from '../server/connection.ts';
import type { Entries } from './entries.ts';
import type { Entry } from '../entry/entry.ts';
import { isTooMuch } from '../base/gathering.ts';
import { known } from '../entry/entered.ts';
import { look, read, remove } from '../queue/txn.ts';

/** How to ask for a proof. */
export interface Asking {
  /** By a write, for servers whose linearizable reads may be stale; see `proof-choice.ts`. */
  readonly strict: boolean;
  readonly withinMs: number;
}

/** What a linearizable read says about the keepalives that were answered before it. */
export interface Proof {
  /** The Raft term in which it was answered. */
  readonly term: string;
  /** Whether an entry that should be there was there, or none was asked for. */
  readonly sound: boolean;
}

// One suffices; the others are asked in case an operator has removed the first. That a further one is gone its own watch tells, and where
// that is silent, the reconnect that its silence leads to.
const PROBED_ENTRIES = 4;

/**
 * A keepalive counts only after this read, and only if both were answered in the same Raft term. A leader that was paused
 * and replaced answers keepalives that it has no right to; a linearizable read needs a quorum, which knows the newer term.
 * With the same term no newer leader existed when the keepalive was answered, and a later one starts the lease anew.
 * The same read tells whether another process has resumed the session: then it rejects with `SESSION_LOST`.
 *
 * A strict proof reads and deletes a key that does not exist. As a write it is served by no member alone: it has to be committed, which
 * only the leader of the newest term can do. It changes nothing, so the revision stays, no history grows, and a store
 * without space takes it.
 */
export async function prove(connection: Connection, entries: Entries, asking: Asking): Promise<Proof> {
  const witnesses = witnessesOf(entries);
  try {
    return await proveByAsMany(witnesses, { connection, entries, asking });
  } catch (error) {
    if (!isQueueLockError(error, 'ACCESS_DENIED') || witnesses.length === 0) throw error;
    await Promise.all(witnesses.map((witness) => noteIfRefused(connection, witness)));
    return await proveByAsMany(witnessesOf(entries), { connection, entries, asking });
  }
}

/** By as many witnesses as a server with a small `--max-txn-ops` takes in one transaction, down to none. */
async function proveByAsMany(witnesses: readonly Witness[], proving: Proving): Promise<Proof> {
  try {
    return await proveBy(witnesses, proving);
  } catch (error) {
    if (witnesses.length === 0 || !isTooMuch(error)) throw error;
    return proveByAsMany(witnesses.slice(0, witnesses.length >> 1), proving);
  }
}

/** A key that may not be read any more says nothing about the others, nor about the lease. */
async function noteIfRefused(connection: Connection, { entry }: Witness): Promise<void> {
  const txn = { success: [look(entry.key)] };
  await connection
    .ask('reading an entry', (etcd, options) => etcd.txn(txn, options), { urgent: true })
    .catch((error: unknown) => {
      if (!isQueueLockError(error, 'ACCESS_DENIED')) throw error;
      entry.unreadable = true;
    });
}

interface Proving {
  readonly connection: Connection;
  readonly entries: Entries;
  readonly asking: Asking;
}

async function proveBy(
  witnesses: readonly Witness[],
  { connection, entries, asking: { strict, withinMs } }: Proving,
): Promise<Proof> {
  const { generation } = entries;
  const success = [...witnesses.map(({ entry }) => look(entry.key)), read(generation.key)];
  const txn = { success: strict ? [...success, remove(entries.absentKey)] : success };
  const { header, responses } = await connection.ask(
    'proving a heartbeat',
    (etcd, options) => etcd.txn(txn, options),
    { withinMs, urgent: true },
  );
  generation.read(known(responses[witnesses.length]).response_range.kvs[0]);
  // One that was withdrawn meanwhile may be gone by our own doing.
  const missing = witnesses.filter(
    ({ entry, order }, i) =>
      !entry.withdrawn && responses[i]?.response_range.kvs[0]?.create_revision !== order.toString(),
  );
  for (const { entry } of missing)
    entry.lose(
      new QueueLockError('ENTRY_LOST', 'a heartbeat has seen that the entry is not in the queue any more'),
    );
  return { term: header.raft_term, sound: witnesses.length === 0 || missing.length < witnesses.length };
}

/** An entry that should be there, and which life of its key it is. */
interface Witness {
  readonly entry: Entry;
  readonly order: bigint;
}

function witnessesOf(entries: Iterable<Entry>): Witness[] {
  const witnesses: Witness[] = [];
  for (const entry of entries) {
    const { order, withdrawn, gone, unreadable } = entry;
    if (order !== undefined && !withdrawn && !gone && !unreadable && !entry.isOfThePast(order))
      witnesses.push({ entry, order });
    if (witnesses.length === PROBED_ENTRIES) break;
  }
  return witnesses;
}
