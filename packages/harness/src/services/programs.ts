import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** The full path of a program that PATH has, looked up anew each time: it may have been installed meanwhile. */
export async function findProgram(name: string): Promise<string | undefined> {
  return firstExecutable(
    (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder || '.', name)),
  );
}

/** The first of these files that this process may run. */
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
