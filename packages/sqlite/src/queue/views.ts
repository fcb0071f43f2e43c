import type { FoundQueue, StoredEntry, StoredHistory } from '@queuelock/core/backend';
import type { Database, Statement } from '../driver/driver.ts';
import { keyOf } from './entries.ts';
import { storedBytes, storedWhole } from './stored.ts';
import { bytesOf, textOf } from '../base/text.ts';

/**
 * How many entries at the front of a queue are watched. When the process of a watched entry ends, its inbox socket closes, and the watching process
 * notices that at once. An entry further back is watched once it has moved up to the front.
 */
const WATCHED_ENTRIES = 16;

type EntryRow = Readonly<Record<'ord' | 'shared' | 'value', unknown>>;
type QueueRow = Readonly<Record<'queue' | 'depth' | 'front' | 'joined', unknown>>;

/** Maps the order number of each entry to whether the entry is admitted. */
export type Turns = ReadonlyMap<number, boolean>;

/** The queries for observers. They read without a transaction that takes the write lock. */
export class Views {
  readonly #entries: Statement;
  readonly #queues: Statement;
  readonly #turns: Statement;
  readonly #turn: Statement;
  readonly #sessionsAtFront: Statement;
  readonly #dataVersion: Statement;

  constructor(db: Database) {
    this.#entries = db.prepare('select ord, shared, value from entry where queue = ? order by ord');
    this.#queues = db.prepare(
      `select queue, count(*) as depth, min(ord) as front, max(nth) as joined from entry
       where queue >= ? and queue < ? group by queue`,
    );
    this.#turns = db.prepare('select ord, admitted from entry where session = ?');
    this.#turn = db.prepare('select admitted from entry where queue = ? and ord = ?');
    this.#sessionsAtFront = db.prepare(
      `select distinct session from (select session from entry where queue = ? order by ord limit ${WATCHED_ENTRIES})`,
    );
    this.#dataVersion = db.prepare('pragma data_version');
  }

  entries(queue: string): readonly StoredEntry[] {
    const rows = this.#entries.all(bytesOf(queue)) as readonly EntryRow[];
    return rows.map(({ shared, value, ...row }) => {
      const ord = storedWhole(row.ord, 'entry.ord', 1);
      return {
        key: keyOf(queue, ord),
        order: BigInt(ord),
        shared: shared === 1,
        value: textOf(storedBytes(value, 'entry.value')),
      };
    });
  }

  /** Returns the queues with entries whose names begin with the prefix. */
  queues(prefix: string): readonly FoundQueue[] {
    const from = bytesOf(prefix);
    // The byte 0xff never occurs in UTF-8, so the prefix with this byte sorts after all names that begin with
    // the prefix.
    const rows = this.#queues.all(from, Buffer.concat([from, Buffer.of(0xff)])) as readonly QueueRow[];
    return rows.map(({ queue, depth, front, joined }) => ({
      name: textOf(storedBytes(queue, 'entry.queue')),
      depth: storedWhole(depth, 'count of entries', 1),
      front: BigInt(storedWhole(front, 'entry.ord', 1)),
      joined: storedWhole(joined, 'entry.nth', 1),
    }));
  }

  /** Returns for each entry of a session whether it is admitted. */
  turnsOf(session: number): Turns {
    const rows = this.#turns.all(session) as readonly { ord: number; admitted: number }[];
    return new Map(rows.map(({ ord, admitted }) => [ord, admitted === 1]));
  }

  /** Returns whether an entry is admitted; `undefined` when it was removed. */
  turnOf(queue: string, ord: number): boolean | undefined {
    const row = this.#turn.get(bytesOf(queue), ord) as { readonly admitted: number } | undefined;
    return row && row.admitted === 1;
  }

  /** Returns the sessions of the watched entries at the front of a queue. */
  sessionsAtFront(queue: string): readonly number[] {
    return (this.#sessionsAtFront.all(bytesOf(queue)) as readonly { session: number }[]).map(
      ({ session }) => session,
    );
  }

  /** Returns the number that SQLite changes whenever another connection has changed the file. */
  dataVersion(): number {
    return (this.#dataVersion.get() as { readonly data_version: number }).data_version;
  }
}

/** Returns a history that contains only the present entries, since the file does not store past ones. */
export function historyOf(entries: readonly StoredEntry[]): StoredHistory {
  return {
    before: [],
    changes: entries.map((entry) => ({ revision: entry.order, kind: 'joined', entry })),
    gaps: ['A SQLite file keeps no history: only the present entries are known.'],
  };
}
