import type { Connection } from './connection.ts';
import type { Entries } from './entries.ts';
import type { Entry } from './entry.ts';
import { look, remove } from './txn.ts';

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

// One suffices; the others are asked in case an operator has removed the first.
const WITNESSES = 4;

/**
 * A keepalive counts only after this read, and only if both were answered in the same Raft term. A leader that was paused
 * and replaced answers keepalives that it has no right to; a linearizable read needs a quorum, which knows the newer term.
 * With the same term no newer leader existed when the keepalive was answered, and a later one starts the lease anew.
 *
 * A strict proof reads and deletes a key that does not exist. As a write it is served by no member alone: it has to be committed, which
 * only the leader of the newest term can do. It changes nothing, so the revision stays, no history grows, and a store
 * without space takes it.
 */
export async function prove(
  connection: Connection,
  entries: Entries,
  { strict, withinMs }: Asking,
): Promise<Proof> {
  const witnesses = witnessesOf(entries);
  const keys = witnesses.length > 0 ? witnesses.map(({ key }) => key) : [entries.privateKey];
  const success = keys.map((key) => look(key));
  const txn = { success: strict ? [...success, remove(entries.absentKey)] : success };
  const { header, responses } = await connection.ask(
    'proving a heartbeat',
    (etcd, options) => etcd.txn(txn, options),
    { withinMs, urgent: true },
  );
  // One that was withdrawn meanwhile may be gone by our own doing.
  const missing = witnesses.filter(
    ({ withdrawn }, i) => !withdrawn && responses[i]?.response_range.kvs.length === 0,
  );
  for (const entry of missing) entry.gone = true;
  return { term: header.raft_term, sound: witnesses.length === 0 || missing.length < witnesses.length };
}

function witnessesOf(entries: Iterable<Entry>): Entry[] {
  const witnesses: Entry[] = [];
  for (const entry of entries) {
    if (entry.order !== undefined && !entry.withdrawn && !entry.gone) witnesses.push(entry);
    if (witnesses.length === WITNESSES) break;
  }
  return witnesses;
}
