import { open } from 'node:fs/promises';
import type { Database } from '../driver/driver.ts';

/** Own steps between two checkpoints. Each writes a few pages of 4 KiB to the log. */
const STEPS = 400;

/**
 * Takes the log over into the file from time to time. SQLite would do it within a step, and wait there until the disk has all of the log:
 * so the log is written through beforehand, by another thread, and little is left to wait for.
 */
export class Checkpoints {
  readonly #db: Database;
  readonly #log: string;
  readonly #isThere: () => boolean;
  #steps = 0;
  #running = false;
  #closed = false;

  /** `isThere`: with other side files on the disk, a checkpoint could damage what other processes write to the file. */
  constructor(db: Database, path: string, isThere: () => boolean) {
    this.#db = db;
    this.#isThere = isThere;
    this.#log = `${path}-wal`;
    db.exec('pragma wal_autocheckpoint = 0');
  }

  /** A step was taken. */
  count(): void {
    this.#steps += 1;
    if (this.#steps < STEPS || this.#running) return;
    this.#steps = 0;
    this.#running = true;
    this.#take()
      // Another process is at it, or the disk is full: the next one comes soon.
      .catch(() => undefined)
      .finally(() => (this.#running = false));
  }

  /** The last one, before the file is closed: who comes and goes often enough takes fewer steps each than there are between two. */
  close(): void {
    this.#closed = true;
    if (!this.#isThere()) return;
    try {
      this.#db.exec('pragma wal_checkpoint(truncate)');
    } catch {
      // Others go on with the log.
    }
  }

  async #take(): Promise<void> {
    const log = await open(this.#log, 'r');
    try {
      await log.datasync();
    } finally {
      await log.close();
    }
    // https://www.sqlite.org/pragma.html#pragma_wal_checkpoint: does as much as it can without waiting for anybody.
    if (!this.#closed && this.#isThere()) this.#db.exec('pragma wal_checkpoint(passive)');
  }
}
