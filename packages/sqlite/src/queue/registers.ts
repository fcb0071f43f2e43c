import { randomBytes } from 'node:crypto';
import type { Register } from '@queuelock/core/backend';
import type { Database, Statement } from '../driver/driver.ts';
import { bytesOf, textOf } from '../base/text.ts';

/** A write of a register by compare-and-set; see `Registers.write`. */
export interface Change {
  readonly text: string | undefined;
  readonly was: string | undefined;
}

interface Row {
  readonly version: string;
  readonly text: Uint8Array;
}

/** The table of registers. An empty register has no row. Call `write` only within a step. */
export class RegisterTable {
  readonly #read: Statement;
  readonly #put: Statement;
  readonly #delete: Statement;

  constructor(db: Database) {
    this.#read = db.prepare('select version, text from register where queue = ? and kind = ?');
    this.#put = db.prepare(
      `insert into register (queue, kind, version, text) values (?, ?, ?, ?)
       on conflict do update set version = excluded.version, text = excluded.text`,
    );
    this.#delete = db.prepare('delete from register where queue = ? and kind = ?');
  }

  read(queue: string, kind: string): Register | undefined {
    const row = this.#read.get(bytesOf(queue), kind) as Row | undefined;
    return row && { text: textOf(row.text), version: row.version };
  }

  write(queue: string, kind: string, { text, was }: Change): boolean {
    if (this.read(queue, kind)?.version !== was) return false;
    if (text === undefined) this.#delete.run(bytesOf(queue), kind);
    // Random versions never repeat, not even after the register was empty in between.
    else this.#put.run(bytesOf(queue), kind, randomBytes(12).toString('hex'), bytesOf(text));
    return true;
  }
}
