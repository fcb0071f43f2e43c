import type { Connection } from './connection.ts';
import type { Entries } from './entries.ts';
import type { Entry } from './entry.ts';
import { look } from './txn.ts';

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
 */
export async function prove(connection: Connection, entries: Entries, withinMs: number): Promise<Proof> {
  const witnesses = witnessesOf(entries);
  const keys = witnesses.length > 0 ? witnesses.map(({ key }) => key) : [entries.privateKey];
  const txn = { success: keys.map((key) => look(key)) };
  const { header, responses } = await connection.ask(
    'proving a heartbeat',
    (etcd, options) => etcd.kv.txn(txn, options),
    withinMs,
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
