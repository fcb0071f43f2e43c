import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// A file system in memory: servers that write to it do not wait for a disk that other programs keep busy. In
// a container this file system is often too small.
const MEMORY = '/dev/shm';
const ROOM_BYTES = 8 * 2 ** 30;
const PREFIX = 'queuelock-tests-';

/**
 * The folders in which a test run keeps its files: one on disk, and one in memory if there is enough space.
 */
export class Scratch {
  readonly #disk: string;
  readonly #memory: string | undefined;

  constructor() {
    this.#disk = freshIn(tmpdir());
    this.#memory = isRoomy(MEMORY) ? freshIn(MEMORY) : undefined;
    mkdirSync(this.#temporary);
    // The folders get the access rights of the system's own temporary folder, because some tests run as
    // another user.
    for (const shared of [this.#temporary, this.#memory]) if (shared !== undefined) chmodSync(shared, 0o1777);
  }

  get #temporary(): string {
    return join(this.#disk, 'tmp');
  }

  /** Returns the path of a file that belongs to the run. */
  file(name: string): string {
    return join(this.#disk, name);
  }

  /** Returns the environment variables that point the tests and their servers to the folders. */
  get env(): Readonly<Record<string, string>> {
    const data = this.#memory === undefined ? {} : { QUEUELOCK_SERVER_DATA: this.#memory };
    return { TMPDIR: this.#temporary, ...data };
  }

  /** Removes the folders. With `keep`, the folder on disk stays for inspection until the next run. */
  remove({ keep }: { readonly keep: boolean }): void {
    if (this.#memory !== undefined) remove(this.#memory);
    if (!keep) remove(this.#disk);
    if (keep) console.log(`\nWhat the tests left is in ${this.#temporary} until the next run.`);
  }
}

function isRoomy(directory: string): boolean {
  if (!existsSync(directory)) return false;
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize >= ROOM_BYTES;
}

/** Returns a new folder, and removes folders of former runs that were killed. */
function freshIn(parent: string): string {
  for (const name of readdirSync(parent)) {
    const [, pid] = new RegExp(`^${PREFIX}(\\d+)-`).exec(name) ?? [];
    if (pid !== undefined && !isRunning(Number(pid))) remove(join(parent, name));
  }
  const directory = mkdtempSync(join(parent, `${PREFIX}${process.pid}-`));
  // Other users may enter the folder, because some servers refuse to run as root.
  chmodSync(directory, 0o755);
  return directory;
}

function remove(directory: string): void {
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
