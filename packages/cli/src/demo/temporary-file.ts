import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileUrl } from '../config/own-file.ts';

/** A database file that exists only during a demo. */
export interface TemporaryFile extends AsyncDisposable {
  readonly url: string;
}

/** Creates a database file in a new temporary directory. `remove` deletes both. */
export async function temporaryFile(): Promise<TemporaryFile> {
  const directory = await mkdtemp(join(tmpdir(), 'queuelock-demo-'));
  return {
    url: fileUrl(join(directory, 'locks.db')),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true }),
  };
}
