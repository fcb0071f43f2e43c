import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadDriver, type Database } from '../src/driver/driver.ts';

/**
 * A directory with a lock file for tests. Its methods change the file as an operator does with other tools.
 */
export class Bench {
  readonly directory: string = mkdtempSync(join(tmpdir(), 'queuelock-test-'));
  readonly file: string = join(this.directory, 'locks.db');
  #db: Promise<Database> | undefined;

  /** Deletes an entry with SQL, so that no process is notified. */
  async evict(key: string): Promise<void> {
    const db = await this.#open();
    db.prepare('delete from entry where ord = ?').run(Number(key.slice(key.lastIndexOf('/') + 1)));
  }

  /** Deletes a session and its entries without the backend, so no process is notified. */
  async endSession(id: string): Promise<void> {
    const db = await this.#open();
    db.exec('begin immediate');
    db.prepare('delete from entry where session = (select num from session where id = ?)').run(id);
    db.prepare('delete from session where id = ?').run(id);
    db.exec('commit');
  }

  /** Returns the stored entries of a queue. */
  async entries(queue: string): Promise<readonly unknown[]> {
    return (await this.#open()).prepare('select ord from entry where queue = ?').all(Buffer.from(queue));
  }

  async close(): Promise<void> {
    (await this.#db)?.close();
    rmSync(this.directory, { recursive: true });
  }

  #open(): Promise<Database> {
    this.#db ??= loadDriver().then(({ DatabaseSync }) => {
      const db = new DatabaseSync(this.file);
      db.exec('pragma busy_timeout = 1000');
      return db;
    });
    return this.#db;
  }
}
