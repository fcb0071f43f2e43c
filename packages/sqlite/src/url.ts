import {
  checkedOptions,
  invalidArgument,
  parseBackendUrl,
  type Backend,
  type KnownOptions,
} from '@queuelock/core/backend';
import { sqlite, type SqliteOptions } from './backend.ts';

const RULE = 'is written sqlite:path/to/file or sqlite:/path/to/file';
const PARAMETERS: KnownOptions<Pick<SqliteOptions, 'onProcessExit'>> = { onProcessExit: 'string' };

/**
 * Creates a backend from a URL.
 * @param url `sqlite:locks.db`, relative to the working directory, or `sqlite:/var/lib/app/locks.db`. `%` and `?` in the path are
 *   percent-encoded. `?onProcessExit=expire` is the option of that name
 * @returns the same backend as `sqlite(options)`
 * @throws {QueueLockError} `INVALID_ARGUMENT` when the URL is invalid
 */
export function fromUrl(url: string): Backend {
  const { scheme, hosts, path, params, display } = parseBackendUrl(url);
  if (scheme !== 'sqlite' || hosts.length > 0 || path === '')
    throw invalidArgument('backend URL', display, RULE);
  const parameters: Pick<SqliteOptions, 'onProcessExit'> = Object.fromEntries(params);
  // Checks only the names of the parameters. The function `sqlite` checks their values together with the
  // other options.
  checkedOptions('parameters of a sqlite: URL', parameters, PARAMETERS);
  return sqlite({
    file: display.startsWith('sqlite:/') ? `/${path}` : path,
    ...parameters,
  });
}
