// Folder "views": reads queues, registers and the server for observers and operators.
// views.ts (this file) reads entries in order. registers.ts reads and writes registers. diagnose.ts checks the server.

import type { FoundQueue, StoredEntry, StoredHistory } from '@queuelock/core/backend';
import type { Connection } from '../session/connection.ts';
import { UNCHANGED } from '../turn/observers.ts';
import { keyOf } from '../queue/names.ts';
import { literal, textOf } from '../queue/sql.ts';

interface EntryRow {
  readonly ord: unknown;
  readonly shared: unknown;
  readonly value: unknown;
}

interface QueueRow {
  readonly queue: unknown;
  readonly depth: unknown;
  readonly front: unknown;
  readonly joined: unknown;
}

interface Stamp {
  readonly last: unknown;
  readonly changes: unknown;
  readonly ended: unknown;
}

/** Returns the entries of a queue in order. */
export async function entriesOf({ steps }: Connection, queue: string): Promise<readonly StoredEntry[]> {
  const rows = await steps.read<EntryRow>(
    `select ord, shared, value from queuelock_entry where queue = ${literal(queue)} order by ord`,
  );
  return rows.map(({ ord, shared, value }) => ({
    key: keyOf(queue, String(ord)),
    order: BigInt(String(ord)),
    shared: Number(shared) === 1,
    value: textOf(value),
  }));
}

/**
 * Returns a function that reads the entries of a queue only when the row of the queue shows a change. The
 * function also ends expired sessions, because no other client may be running that does so.
 */
export function entriesWhenChanged(
  connection: Connection,
  queue: string,
): () => Promise<readonly StoredEntry[] | typeof UNCHANGED> {
  const sql = `select (select last from queuelock_queue where name = ${literal(queue)}) as last,
    (select changes from queuelock_queue where name = ${literal(queue)}) as changes,
    exists (select 1 from queuelock_session where expires <= utc_timestamp(6)) as ended`;
  let before: string | undefined;
  let wasAt = -Infinity;
  let rounds = 0;
  return async () => {
    const [stamp] = await connection.steps.read<Stamp>(sql);
    if (Number(stamp?.ended) === 1) connection.sweepSoon();
    const now = `${String(stamp?.last)}:${String(stamp?.changes)}`;
    rounds += 1;
    // When an operator changes entries by hand, the row of the queue does not change. So at least every tenth
    // poll reads the entries.
    if (now === before && rounds - wasAt < UNSTAMPED_ROUNDS) return UNCHANGED;
    before = now;
    wasAt = rounds;
    return entriesOf(connection, queue);
  };
}

const UNSTAMPED_ROUNDS = 10;

/** Returns the queues that have entries and whose names begin with `prefix`. */
export async function queuesIn({ steps }: Connection, prefix: string): Promise<readonly FoundQueue[]> {
  // No UTF-8 text contains the byte FF. So the names with the prefix are those from the prefix up to the
  // prefix followed by FF.
  const end = `concat(${literal(prefix)}, x'ff')`;
  const rows = await steps.read<QueueRow>(
    `select queue, count(*) as depth, min(ord) as front, max(joined) as joined
     from queuelock_entry force index (waiting) join queuelock_queue on name = queue
     where queue >= ${literal(prefix)} and queue < ${end} group by queue`,
  );
  return rows.map(({ queue, depth, front, joined }) => ({
    name: textOf(queue),
    depth: Number(depth),
    front: BigInt(String(front)),
    joined: Number(joined),
  }));
}

/** Returns a history of the present entries only, because the tables keep nothing about entries that have left. */
export function historyOf(entries: readonly StoredEntry[]): StoredHistory {
  return {
    before: [],
    changes: entries.map((entry) => ({ revision: entry.order, kind: 'joined', entry })),
    gaps: ['The tables keep no history: only the present entries are known.'],
  };
}
