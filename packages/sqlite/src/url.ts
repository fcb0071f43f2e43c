import { invalidArgument, parseBackendUrl, type Backend } from '@queuelock/core/backend';
import { sqlite, type SqliteOptions } from './backend.ts';

const RULE = 'is written sqlite:path/to/file or sqlite:/path/to/file, with the parameter onDeath only';

/**
 * A backend by URL: `sqlite:locks.db`, relative to the working directory, or `sqlite:/var/lib/app/locks.db`. Percent-encoded where the path
 * has `%` or `?`. `?onDeath=lease` is the option of that name.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for another URL.
 */
export function fromUrl(url: string): Backend {
  const { scheme, hosts, path, params, display } = parseBackendUrl(url);
  const { onDeath, ...others } = Object.fromEntries(params);
  if (scheme !== 'sqlite' || hosts.length > 0 || Object.keys(others).length > 0 || path === '')
    throw invalidArgument('backend URL', display, RULE);
  return sqlite({
    file: display.startsWith('sqlite:/') ? `/${path}` : path,
    // Checked with the other options.
    ...(onDeath === undefined ? {} : { onDeath: onDeath as NonNullable<SqliteOptions['onDeath']> }),
  });
}
