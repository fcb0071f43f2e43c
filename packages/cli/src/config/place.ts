import { KNOWN } from '../backends.ts';
import { readPassword, withCredentials } from './credentials.ts';
import { readConfig, type Config, type Environment, type Profile } from './file.ts';
import { misconfigured } from './shape.ts';

/** Options of a command line that select the store. */
export interface PlaceOptions {
  readonly backend?: string;
  readonly profile?: string;
}

/** The selected store. */
export interface Place {
  /** URL with user and password: never print it. */
  readonly url: string;
  /** TTL of the profile, in seconds. */
  readonly ttl?: number;
  readonly epoch?: number;
}

/**
 * Selects the store of a command: `--backend`, else `--profile`, else QUEUELOCK_URL, else QUEUELOCK_PROFILE, else the
 * configuration's default. If the URL has no credentials, they come from QUEUELOCK_USER with QUEUELOCK_PASSWORD or
 * QUEUELOCK_PASSWORD_FILE, else from the profile.
 * @throws {Failure} with one line that names what is missing
 */
export function placeOf(options: PlaceOptions, env: Environment = process.env): Place {
  const place = knownPlace(options, env);
  if (place) return place;
  throw misconfigured(
    `no backend given: use --backend URL, set QUEUELOCK_URL, or write a profile into ~/.config/queuelock/config.json; known are ${KNOWN}`,
  );
}

/** Selects the store as {@link selectStore} does; `undefined` if nothing names one. */
export function knownPlace(options: PlaceOptions, env: Environment = process.env): Place | undefined {
  return namedPlace(options, env) ?? standardPlace(env);
}

/**
 * Selects the store as {@link selectStore} does, but only from the command line or the environment. For commands that must not
 * contact a server by default.
 */
export function namedPlace(
  { backend, profile }: PlaceOptions,
  env: Environment = process.env,
): Place | undefined {
  if (backend !== undefined && profile !== undefined)
    throw misconfigured('--backend and --profile both say where the queues are: use one of them');
  if (backend !== undefined) return place({ url: backend }, env);
  if (profile !== undefined) return place(profileNamed(readConfig(env), profile), env);
  if (env['QUEUELOCK_URL']) return place({ url: env['QUEUELOCK_URL'] }, env);
  if (env['QUEUELOCK_PROFILE']) return place(profileNamed(readConfig(env), env['QUEUELOCK_PROFILE']), env);
  return undefined;
}

function standardPlace(env: Environment): Place | undefined {
  const config = readConfig(env);
  return config.default === undefined ? undefined : place(profileNamed(config, config.default), env);
}

function profileNamed({ file, profiles }: Config, name: string): Profile {
  const profile = profiles.get(name);
  if (profile) return profile;
  const known = profiles.size === 0 ? 'it has none' : `it has ${[...profiles.keys()].join(', ')}`;
  throw misconfigured(`there is no profile ${JSON.stringify(name)} in ${file}; ${known}`);
}

function place({ url, ttl, epoch, ...profile }: Profile, env: Environment): Place {
  const { user = profile.user, passwordFile = profile.passwordFile, password } = credentialsIn(env);
  const secret = password ?? (passwordFile === undefined ? undefined : readPassword(passwordFile));
  return {
    url: withCredentials(url, { user, password: secret }),
    ...(ttl === undefined ? {} : { ttl }),
    ...(epoch === undefined ? {} : { epoch }),
  };
}

/** Reads the credentials of the environment. An empty variable counts as unset. */
function credentialsIn(env: Environment): Record<'user' | 'password' | 'passwordFile', string | undefined> {
  const read = (name: string): string | undefined => (env[name] === '' ? undefined : env[name]);
  return {
    user: read('QUEUELOCK_USER'),
    password: read('QUEUELOCK_PASSWORD'),
    passwordFile: read('QUEUELOCK_PASSWORD_FILE'),
  };
}
