import { QueueLockError } from '@queuelock/core/backend';
import type { Connection } from './connection.ts';
import type { Entry } from './entry.ts';
import { look } from './txn.ts';

/** What a linearizable read says about the keepalives that were answered before it. */
export interface Proof {
  readonly term: string;
  /** Whether an entry that must be there was there, or none was asked for. */
  readonly sound: boolean;
}

// One suffices; the others are asked in case an operator removed the first.
const WITNESSES = 4;

/**
 * A keepalive counts only after this read, and only if it was answered in the same Raft term. A leader that was paused and
 * replaced answers keepalives that it has no right to; a linearizable read needs a quorum, which knows the newer term. With
 * the same term no newer leader existed when the keepalive was answered, and a later one starts the lease anew.
 */
export async function prove(
  connection: Connection,
  { entries, fallback, withinMs }: { readonly entries: Iterable<Entry>; readonly fallback: Buffer; readonly withinMs: number },
): Promise<Proof> {
  const witnesses = [...entries].filter(isWitness).slice(0, WITNESSES);
  const keys = witnesses.length > 0 ? witnesses.map(({ key }) => key) : [fallback];
  const success = keys.map((key) => look(key));
  const { header, responses } = await connection.call('proving a heartbeat', (etcd, options) => etcd.kv.txn({ success }, options), withinMs);
  // Whoever is withdrawn by now may be gone by our own doing.
  const missing = witnesses.filter(({ withdrawn }, i) => !withdrawn && responses[i]?.response_range.kvs.length === 0);
  for (const entry of missing) entry.gone = true;
  return { term: header.raft_term, sound: missing.length === 0 || missing.length < witnesses.length };
}

function isWitness({ order, withdrawn, gone }: Entry): boolean {
  return order !== undefined && !withdrawn && !gone;
}

/** Why a keepalive does not count. */
export function unproven(host: string): QueueLockError {
  return new QueueLockError('UNAVAILABLE', `etcd ${host} answered a heartbeat that the cluster does not confirm`);
}
