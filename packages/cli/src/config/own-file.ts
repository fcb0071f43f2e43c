import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from './file.ts';

/**
 * Returns the URL of the database file that all commands of this user share when no store is selected:
 * `$XDG_STATE_HOME/queuelock/locks.db`, usually in `~/.local/state`. Creates the directory of the file.
 */
export function ownFileUrl(env: Environment = process.env): string {
  const directory = join(env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'queuelock');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return fileUrl(join(directory, 'locks.db'));
}

/** Converts a path to the URL of a file. */
export function fileUrl(path: string): string {
  return `sqlite:${path.split('/').map(encodeURIComponent).join('/')}`;
}
