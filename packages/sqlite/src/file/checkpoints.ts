import { open } from 'node:fs/promises';
import type { Database } from '../driver/driver.ts';

/** The number of own steps between two checkpoints. Each step writes a few pages of 4 KiB to the log. */
const STEPS_PER_CHECKPOINT = 400;

/**
 * Writes the log back to the file from time to time. SQLite would do that within a step, and wait there until the disk has stored the whole
 * log. So another thread syncs the log first, and little is left to wait for.
 */
export class Checkpoints {
  readonly #db: Database;
  readonly #log: string;
  readonly #isSameFile: () => boolean;
  #steps = 0;
  #running = false;
  #closed = false;

  /**
   * @param isThere returns whether the side files are unchanged. With other side files, a checkpoint could damage the writes of other
   *   processes
   */
  constructor(db: Database, path: string, isThere: () => boolean) {
    this.#db = db;
    this.#isSameFile = isThere;
    this.#log = `${path}-wal`;
    db.exec('pragma wal_autocheckpoint = 0');
  }

  /** Counts a step. */
  count(): void {
    this.#steps += 1;
    if (this.#steps < STEPS_PER_CHECKPOINT || this.#running) return;
    this.#steps = 0;
    this.#running = true;
    this.#run()
      // Another process runs a checkpoint, or the disk is full. The next checkpoint follows soon.
      .catch(() => undefined)
      .finally(() => (this.#running = false));
  }

  /**
   * Runs the last checkpoint before the file is closed. A client that connects for a short time may run fewer steps than there are between
   * checkpoints.
   */
  close(): void {
    this.#closed = true;
    if (!this.#isSameFile()) return;
    try {
      this.#db.exec('pragma wal_checkpoint(truncate)');
    } catch {
      // Other processes continue with the log.
    }
  }

  async #run(): Promise<void> {
    const log = await open(this.#log, 'r');
    try {
      await log.datasync();
    } finally {
      await log.close();
    }
    // https://www.sqlite.org/pragma.html#pragma_wal_checkpoint: does as much as possible without waiting for other connections.
    if (!this.#closed && this.#isSameFile()) this.#db.exec('pragma wal_checkpoint(passive)');
  }
}
