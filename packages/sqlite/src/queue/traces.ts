import type { Database, Statement } from '../driver/driver.ts';
import { storedWhole } from './stored.ts';
import { bytesOf } from '../base/text.ts';

/** The orders of the entries whose holds have begun and not ended by a removal, by queue. Outlives sessions. Called within a step. */
export class TraceTable {
  readonly #leave: Statement;
  readonly #erase: Statement;
  readonly #orphans: Statement;

  constructor(db: Database) {
    this.#leave = db.prepare('insert or ignore into trace (queue, ord) values (?, ?)');
    this.#erase = db.prepare('delete from trace where queue = ? and ord = ?');
    this.#orphans = db.prepare(
      `select ord from trace where queue = ? and not exists
       (select 1 from entry where entry.queue = trace.queue and entry.ord = trace.ord) order by ord`,
    );
  }

  leave(queue: string, ord: number): void {
    this.#leave.run(bytesOf(queue), ord);
  }

  erase(queue: string, ord: number): void {
    this.#erase.run(bytesOf(queue), ord);
  }

  /** Those whose entries are gone. */
  orphans(queue: string): readonly number[] {
    return (this.#orphans.all(bytesOf(queue)) as readonly { ord: unknown }[]).map(({ ord }) =>
      storedWhole(ord, 'trace.ord', 1),
    );
  }
}
