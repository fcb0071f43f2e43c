import type { FoundQueue, StoredEntry, StoredHistory } from '@queuelock/core/backend';
import type { Database, Statement } from '../driver/driver.ts';
import { keyOf } from './entries.ts';
import { storedBytes, storedWhole } from './stored.ts';
import { bytesOf, textOf } from '../base/text.ts';

/** Of these it is known at once when their process ends; of others when their turn comes near, or by their leases. */
const LONGEST_FRONT = 16;

type EntryRow = Readonly<Record<'ord' | 'shared' | 'value', unknown>>;
type QueueRow = Readonly<Record<'queue' | 'depth' | 'front' | 'joined', unknown>>;

/** Whether an entry is admitted, by its order. */
export type Turns = ReadonlyMap<number, boolean>;

/** What is read to be shown, without a step. */
export class Views {
  readonly #entries: Statement;
  readonly #queues: Statement;
  readonly #turns: Statement;
  readonly #turn: Statement;
  readonly #inFront: Statement;
  readonly #first: Statement;
  readonly #dataVersion: Statement;

  constructor(db: Database) {
    this.#entries = db.prepare('select ord, shared, value from entry where queue = ? order by ord');
    this.#queues = db.prepare(
      `select queue, count(*) as depth, min(ord) as front, max(nth) as joined from entry
       where queue >= ? and queue < ? group by queue`,
    );
    this.#turns = db.prepare('select ord, admitted from entry where session = ?');
    this.#turn = db.prepare('select admitted from entry where queue = ? and ord = ?');
    this.#inFront = db.prepare(
      `select distinct session from (select session from entry where queue = ? order by ord limit ${LONGEST_FRONT})`,
    );
    this.#first = db.prepare('select admitted from entry where queue = ? order by ord limit 1');
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

  /** Those that are not empty and whose names begin so. */
  queues(prefix: string): readonly FoundQueue[] {
    const from = bytesOf(prefix);
    // No UTF-8 has this byte.
    const rows = this.#queues.all(from, Buffer.concat([from, Buffer.of(0xff)])) as readonly QueueRow[];
    return rows.map(({ queue, depth, front, joined }) => ({
      name: textOf(storedBytes(queue, 'entry.queue')),
      depth: storedWhole(depth, 'count of entries', 1),
      front: BigInt(storedWhole(front, 'entry.ord', 1)),
      joined: storedWhole(joined, 'entry.nth', 1),
    }));
  }

  /** Of all entries of a session. */
  turnsOf(session: number): Turns {
    const rows = this.#turns.all(session) as readonly { ord: number; admitted: number }[];
    return new Map(rows.map(({ ord, admitted }) => [ord, admitted === 1]));
  }

  /** Whether an entry is admitted; `undefined` when it is gone. */
  turnOf(queue: string, ord: number): boolean | undefined {
    const row = this.#turn.get(bytesOf(queue), ord) as { readonly admitted: number } | undefined;
    return row && row.admitted === 1;
  }

  /** The sessions of those in front. */
  inFront(queue: string): readonly number[] {
    return (this.#inFront.all(bytesOf(queue)) as readonly { session: number }[]).map(
      ({ session }) => session,
    );
  }

  /** Whether the first one waits, as it does after somebody took away the one before with tools of his own. */
  isStuck(queue: string): boolean {
    return (this.#first.get(bytesOf(queue)) as { readonly admitted: number } | undefined)?.admitted === 0;
  }

  /** Another number as soon as another connection has changed something. */
  dataVersion(): number {
    return (this.#dataVersion.get() as { readonly data_version: number }).data_version;
  }
}

/** Who is there: those who have left are forgotten. */
export function historyOf(entries: readonly StoredEntry[]): StoredHistory {
  return {
    before: [],
    changes: entries.map((entry) => ({ revision: entry.order, kind: 'joined', entry })),
    gaps: ['A SQLite file keeps no history: those who have left are not known any more.'],
  };
}
