import type { Database, Statement } from '../driver/driver.ts';
import { storedWhole } from './stored.ts';
import { bytesOf } from '../base/text.ts';

/**
 * The table of traces: for each queue, the order numbers of the entries whose holds began and were not
 * released. A trace remains when its session ends. Every method must be called within a step.
 */
export class TraceTable {
  readonly #insert: Statement;
  readonly #delete: Statement;
  readonly #orphans: Statement;

  constructor(db: Database) {
    this.#insert = db.prepare('insert or ignore into trace (queue, ord) values (?, ?)');
    this.#delete = db.prepare('delete from trace where queue = ? and ord = ?');
    this.#orphans = db.prepare(
      `select ord from trace where queue = ? and not exists
       (select 1 from entry where entry.queue = trace.queue and entry.ord = trace.ord) order by ord`,
    );
  }

  leave(queue: string, ord: number): void {
    this.#insert.run(bytesOf(queue), ord);
  }

  erase(queue: string, ord: number): void {
    this.#delete.run(bytesOf(queue), ord);
  }

  /**
   * Returns the traces of a queue whose entries have left it. Each trace is the order number of its entry;
   * the smallest comes first.
   */
  orphans(queue: string): readonly number[] {
    return (this.#orphans.all(bytesOf(queue)) as readonly { ord: unknown }[]).map(({ ord }) =>
      storedWhole(ord, 'trace.ord', 1),
    );
  }
}
