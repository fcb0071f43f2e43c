import { QueueLockError, isQueueLockError } from '@queuelock/core/backend';
import type { Connection } from '../server/connection.ts';
import type { Entries } from './entries.ts';
import type { Entry } from '../entry/entry.ts';
import { isTooLarge } from '../base/batcher.ts';
import { known } from '../entry/entered.ts';
import { readMetadata, read, remove } from '../queue/txn.ts';

/** Options of the request that proves one heartbeat: whether it is a write, and its timeout. */
export interface ProofOptions {
  /** Whether the proof is a write, for servers whose linearizable reads may be stale; see `proof-choice.ts`. */
  readonly strict: boolean;
  readonly withinMs: number;
}

/** The result of the proof of a heartbeat. */
export interface Proof {
  /** The Raft term of the response that proves the heartbeat. */
  readonly term: string;
  /** Whether the proof found at least one of the entries that should exist, or had no entry to read. */
  readonly sound: boolean;
}

// How many entries a proof reads. One would be enough, but an operator may have removed it. The removal of
// any other entry is noticed by that entry's own watch.
const PROBED_ENTRIES = 4;

/**
 * Proves that a keepalive response was valid, by a linearizable read after it. Both responses must have the same Raft term. A leader that was
 * paused and replaced may still respond to keepalives, but the read needs a quorum, which knows the newer term. With the same term, no newer
 * leader existed when the lease was renewed, and a later leader restarts the lease.
 *
 * The read also shows whether another process has resumed the session. In that case the proof rejects with `SESSION_LOST`.
 *
 * A strict proof also deletes a key that does not exist. As a write it must be committed, which only the leader of the newest term can do. The
 * deletion changes nothing: the revision and the history stay as they are, and a store without space accepts it.
 */
export async function prove(connection: Connection, entries: Entries, options: ProofOptions): Promise<Proof> {
  const witnesses = witnessesOf(entries);
  try {
    return await proveByAsMany(witnesses, { connection, entries, options });
  } catch (error) {
    if (!isQueueLockError(error, 'ACCESS_DENIED') || witnesses.length === 0) throw error;
    await Promise.all(witnesses.map((witness) => noteIfRefused(connection, witness)));
    return await proveByAsMany(witnessesOf(entries), { connection, entries, options });
  }
}

/**
 * Reads the entries in one transaction. If a server with a small `--max-txn-ops` refuses the transaction, repeats it with half as many entries, at
 * last with none.
 */
async function proveByAsMany(witnesses: readonly Witness[], context: ProofContext): Promise<Proof> {
  try {
    return await proveBy(witnesses, context);
  } catch (error) {
    if (witnesses.length === 0 || !isTooLarge(error)) throw error;
    return proveByAsMany(witnesses.slice(0, witnesses.length >> 1), context);
  }
}

/** Reads one entry. If the user may not read the entry any more, records that in the entry. The following proofs then leave this entry out. */
async function noteIfRefused(connection: Connection, { entry }: Witness): Promise<void> {
  const txn = { success: [readMetadata(entry.key)] };
  await connection
    .ask('reading an entry', (etcd, options) => etcd.txn(txn, options), { urgent: true })
    .catch((error: unknown) => {
      if (!isQueueLockError(error, 'ACCESS_DENIED')) throw error;
      entry.unreadable = true;
    });
}

interface ProofContext {
  readonly connection: Connection;
  readonly entries: Entries;
  readonly options: ProofOptions;
}

async function proveBy(
  witnesses: readonly Witness[],
  { connection, entries, options: { strict, withinMs } }: ProofContext,
): Promise<Proof> {
  const { generation } = entries;
  const success = [...witnesses.map(({ entry }) => readMetadata(entry.key)), read(generation.key)];
  const txn = { success: strict ? [...success, remove(entries.absentKey)] : success };
  const { header, responses } = await connection.ask(
    'proving a heartbeat',
    (etcd, options) => etcd.txn(txn, options),
    { withinMs, urgent: true },
  );
  generation.read(known(responses[witnesses.length]).response_range.kvs[0]);
  // Ignores entries that were withdrawn during the request, since this session may have removed them.
  const missing = witnesses.filter(
    ({ entry, order }, i) =>
      !entry.withdrawn && responses[i]?.response_range.kvs[0]?.create_revision !== order.toString(),
  );
  for (const { entry } of missing)
    entry.lose(
      new QueueLockError('ENTRY_LOST', 'a heartbeat found that the entry is no longer in the queue'),
    );
  return { term: header.raft_term, sound: witnesses.length === 0 || missing.length < witnesses.length };
}

/** An entry that should exist in the store, with its create revision. */
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
