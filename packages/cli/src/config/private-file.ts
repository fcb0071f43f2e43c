import { closeSync, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { misconfigured } from './shape.ts';

const READ_BY_GROUP = 0o040;
const ACCESSIBLE_TO_OTHERS = 0o077;

/**
 * Reads a file that contains a password.
 * @param what the name of the file in messages, for instance `password file`
 * @throws {Failure} when the file cannot be read, or when another user of this machine may read or change it
 */
export function readPrivate(what: string, file: string): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    // Checks the mode of the open file and not of its path. Another file may be at that path after the open.
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
 * Checks that no other user can access a file. The group may read a file that root owns, because
 * orchestrators mount secrets in this way for processes of another user. Windows has no such file modes, so
 * the check does nothing there.
 * @throws {Failure} when the group or other users may access the file
 */
export function requirePrivate(what: string, file: string, { mode, uid }: Pick<Stats, 'mode' | 'uid'>): void {
  if (process.platform === 'win32') return;
  const refused =
    uid === 0 && process.getuid?.() !== 0 ? ACCESSIBLE_TO_OTHERS & ~READ_BY_GROUP : ACCESSIBLE_TO_OTHERS;
  if ((mode & refused) === 0) return;
  const shown = (mode & 0o777).toString(8);
  throw misconfigured(
    `the ${what} ${file} has mode ${shown}, which lets other users access it: run chmod 600 ${file}`,
  );
}
