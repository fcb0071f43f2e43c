import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/**
 * Returns the full path of a program on PATH. It searches at each call, because the program may have been
 * installed since the last one.
 */
export async function findProgram(name: string): Promise<string | undefined> {
  return firstExecutable(
    (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder || '.', name)),
  );
}

/** Returns the first file of the list that this process may execute. */
export async function firstExecutable(files: readonly string[]): Promise<string | undefined> {
  for (const file of files) {
    if (await mayAccess(file, constants.X_OK)) return file;
  }
  return undefined;
}

export async function isReadable(file: string): Promise<boolean> {
  return mayAccess(file, constants.R_OK);
}

async function mayAccess(file: string, mode: number): Promise<boolean> {
  return access(file, mode).then(
    () => true,
    () => false,
  );
}
