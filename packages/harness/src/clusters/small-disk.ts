import { open, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Keeper } from './keeper.ts';
import { runTool } from './run-tool.ts';
import type { Command } from '../services/child.ts';

/** A data directory on an in-memory file system of its own, which only the member sees and which can be filled. */
export class SmallDisk {
  readonly #keeper: Keeper;
  /**
   * Path by which the test process reaches the directory. The directory itself is mounted only in the
   * member's mount namespace.
   */
  readonly seen: string;

  private constructor(keeper: Keeper, directory: string) {
    this.#keeper = keeper;
    this.seen = `/proc/${keeper.pid}/root${directory}`;
  }

  get #ballast(): string {
    return join(this.seen, 'ballast');
  }

  /**
   * Mounts an in-memory file system on the directory. Rejects with `NotHere` and the message of unshare(1) or mount(8) if this process may not mount.
   */
  static async mount(directory: string, sizeMiB: number): Promise<SmallDisk> {
    const keeper = await Keeper.start('mount');
    try {
      const args = ['-t', 'tmpfs', '-o', `size=${sizeMiB}m,mode=0700`, 'queuelock', directory];
      await runTool(keeper.inside({ program: 'mount', args }));
      return new SmallDisk(keeper, directory);
    } catch (error) {
      await keeper.stop();
      throw error;
    }
  }

  inside(command: Command): Command {
    return this.#keeper.inside(command);
  }

  async fill(): Promise<void> {
    const ballast = await open(this.#ballast, 'a');
    try {
      for (const size of [1024 * 1024, 4096]) await writeUntilFull(ballast, Buffer.alloc(size));
    } finally {
      await ballast.close();
    }
  }

  async free(): Promise<void> {
    await rm(this.#ballast, { force: true });
  }

  /** Unmounts the member's disk. Processes that use the disk must have ended. */
  async unmount(): Promise<void> {
    await this.#keeper.stop();
  }
}

async function writeUntilFull(file: FileHandle, piece: Buffer): Promise<void> {
  try {
    for (;;) await file.appendFile(piece);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
