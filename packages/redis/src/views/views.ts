// Folder "views": reads queues, registers and the server for observers and operators.
// views.ts (this file) reads entries in order. registers.ts reads and writes registers. diagnose.ts checks the server.

import type { FoundQueue, StoredEntry, StoredHistory } from '@queuelock/core/backend';
import { endsInMs } from '../turn/ends.ts';
import type { Connection } from '../session/connection.ts';
import { SCRIPTS } from '../queue/scripts.ts';

const PACKED = /^[0-9a-f]+\|([012])\|\d+\|\d+\|[0-9a-f]+\|(.*)$/s;

/** Returns the entries of a queue in order, and schedules another read for when the first lease at its head may have ended. */
export async function entriesOf(
  { steps, keys, headLeases }: Connection,
  queue: string,
): Promise<readonly StoredEntry[]> {
  const { rest } = await steps.take(SCRIPTS.view, queue);
  const [endsInUs, rows] = rest as [number, readonly (readonly [string, string | null])[]];
  headLeases.watch(queue, endsInMs(endsInUs), Infinity);
  return rows.flatMap(([ord, packed]) => {
    const [, shared, value = ''] = PACKED.exec(packed ?? '') ?? [];
    return { key: keys.entry(queue, ord), order: BigInt(ord), shared: shared === '1', value };
  });
}

/** Returns the queues that have entries and whose names begin with `prefix`, and the count of all sessions. */
export async function queuesIn(
  { steps }: Connection,
  prefix: string,
): Promise<{ readonly found: readonly FoundQueue[]; readonly sessions: number }> {
  const { rest } = await steps.take(SCRIPTS.queues, prefix);
  const [rows, sessions] = rest as [readonly (readonly [string, number, string, string])[], number];
  const found = rows.map(([name, depth, front, joined]) => ({
    name,
    depth,
    front: BigInt(front),
    joined: Number(joined),
  }));
  return { found, sessions };
}

/**
 * Returns the history of a queue. It contains only the present entries, since Redis keeps nothing about
 * entries that have left.
 */
export function historyOf(entries: readonly StoredEntry[]): StoredHistory {
  return {
    before: [],
    changes: entries.map((entry) => ({ revision: entry.order, kind: 'joined', entry })),
    gaps: ['Redis keeps no history: only the present entries are known.'],
  };
}
