import { closeSync, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { misconfigured } from './shape.ts';

const READ_BY_GROUP = 0o040;
const OPEN_TO_OTHERS = 0o077;

/**
 * Reads a file with a password.
 * @param what names the file in messages: `password file`
 * @throws {Failure} when it cannot be read, or when another user of this machine may read or change it
 */
export function readPrivate(what: string, file: string): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    // Of the file that is open: its name may be given to another one meanwhile.
    requirePrivate(what, file, fstatSync(descriptor));
    return readFileSync(descriptor, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === undefined ? error : misconfigured(`cannot read the ${what} ${file}: ${code}`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/**
 * @throws {Failure} when the group of a file or others may use it. A file of root may be read by its group, as orchestrators mount
 *   secrets for processes of another user. Windows has no such modes.
 */
export function requirePrivate(what: string, file: string, { mode, uid }: Pick<Stats, 'mode' | 'uid'>): void {
  if (process.platform === 'win32') return;
  const refused = uid === 0 && process.getuid?.() !== 0 ? OPEN_TO_OTHERS & ~READ_BY_GROUP : OPEN_TO_OTHERS;
  if ((mode & refused) === 0) return;
  const shown = (mode & 0o777).toString(8);
  throw misconfigured(
    `the ${what} ${file} has mode ${shown}, so that other users may use it: chmod 600 ${file}`,
  );
}
