// Chapter views: what can be seen of queues, of registers, of the store?
// Entries in order (here), texts (registers), and what is to be said about the server (diagnose).

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

/** The entries of a queue in order. */
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

/** Reads them again when the queue has changed, which is one row to look at; ends who is over, since it may be that nobody else does. */
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
    // What somebody changed with tools of his own has no stamp.
    if (now === before && rounds - wasAt < UNSTAMPED_ROUNDS) return UNCHANGED;
    before = now;
    wasAt = rounds;
    return entriesOf(connection, queue);
  };
}

const UNSTAMPED_ROUNDS = 10;

/** Those that are not empty and whose names begin so. */
export async function queuesIn({ steps }: Connection, prefix: string): Promise<readonly FoundQueue[]> {
  // No UTF-8 has that byte.
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

/** Who is there: those who have left are forgotten. */
export function historyOf(entries: readonly StoredEntry[]): StoredHistory {
  return {
    before: [],
    changes: entries.map((entry) => ({ revision: entry.order, kind: 'joined', entry })),
    gaps: ['The tables keep no history: those who have left are not known any more.'],
  };
}
