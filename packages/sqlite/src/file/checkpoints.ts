import { open } from 'node:fs/promises';
import type { Database } from '../driver/driver.ts';

/** The number of steps of this process between two checkpoints. Each step writes a few pages of 4 KiB to the write-ahead log. */
const STEPS_PER_CHECKPOINT = 400;

/**
 * Copies the write-ahead log to the file from time to time (a checkpoint). SQLite itself would do that within a step, which would block
 * the event loop until the disk has stored the whole log. Here a background thread first syncs the log to disk, so that the checkpoint
 * itself is short.
 */
export class Checkpoints {
  readonly #db: Database;
  readonly #log: string;
  readonly #isSameFile: () => boolean;
  #steps = 0;
  #running = false;
  #closed = false;

  /**
   * @param isThere returns whether the file and its side files (`-wal`, `-shm`) are still those that this process has opened. If they were
   *   replaced, a checkpoint could damage what other processes have written
   */
  constructor(db: Database, path: string, isThere: () => boolean) {
    this.#db = db;
    this.#isSameFile = isThere;
    this.#log = `${path}-wal`;
    db.exec('pragma wal_autocheckpoint = 0');
  }

  /** Counts a step, and runs a checkpoint after every 400 steps. */
  count(): void {
    this.#steps += 1;
    if (this.#steps < STEPS_PER_CHECKPOINT || this.#running) return;
    this.#steps = 0;
    this.#running = true;
    this.#run()
      // The checkpoint failed: another process is running one, or the disk is full. The next checkpoint
      // follows after 400 more steps.
      .catch(() => undefined)
      .finally(() => (this.#running = false));
  }

  /** Runs a last checkpoint before the file is closed, since a process with few steps may never have run one. */
  close(): void {
    this.#closed = true;
    if (!this.#isSameFile()) return;
    try {
      this.#db.exec('pragma wal_checkpoint(truncate)');
    } catch {
      // The checkpoint fails while other processes use the log. One of them then runs the next checkpoint.
    }
  }

  async #run(): Promise<void> {
    const log = await open(this.#log, 'r');
    try {
      await log.datasync();
    } finally {
      await log.close();
    }
    // `passive` copies as much as possible without waiting for other connections; see
    // https://www.sqlite.org/pragma.html#pragma_wal_checkpoint.
    if (!this.#closed && this.#isSameFile()) this.#db.exec('pragma wal_checkpoint(passive)');
  }
}
