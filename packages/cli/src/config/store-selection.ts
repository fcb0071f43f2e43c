import { KNOWN_SCHEMES } from '../backends.ts';
import { readPassword, withCredentials } from './credentials.ts';
import { readConfig, type Config, type Environment, type Profile } from './file.ts';
import { misconfigured } from './shape.ts';

/** Options of a command line that select the store. */
export interface StoreOptions {
  readonly backend?: string;
  readonly profile?: string;
}

/** The store that a command line or the configuration selects. */
export interface SelectedStore {
  /** URL of the store, with user and password. It must never be printed. */
  readonly url: string;
  /** Lease TTL that the profile sets, in seconds. */
  readonly ttl?: number;
  readonly epoch?: number;
  /** Number of holds to record for each lock name. */
  readonly record?: number;
}

/**
 * Selects the store of a command. The first of these that is set decides: `--backend`, `--profile`,
 * QUEUELOCK_URL, QUEUELOCK_PROFILE, the default of the configuration file. If the URL has no credentials,
 * they are read from QUEUELOCK_USER with QUEUELOCK_PASSWORD or QUEUELOCK_PASSWORD_FILE. If these are unset,
 * they are read from the profile.
 * @throws {Failure} with one line that names what is missing
 */
export function selectStore(options: StoreOptions, env: Environment = process.env): SelectedStore {
  const storeOf = findStore(options, env);
  if (storeOf) return storeOf;
  throw misconfigured(
    `no backend given: use --backend URL, set QUEUELOCK_URL, or write a profile into ~/.config/queuelock/config.json; known schemes are ${KNOWN_SCHEMES}`,
  );
}

/**
 * Selects the store as {@link selectStore} does. Returns `undefined` if no option, variable or configuration
 * names a store.
 */
export function findStore(options: StoreOptions, env: Environment = process.env): SelectedStore | undefined {
  return findNamedStore(options, env) ?? findDefaultStore(env);
}

/**
 * Selects the store as {@link selectStore} does, but ignores the default of the configuration file. Used by
 * commands that must not contact a server by default.
 */
export function findNamedStore(
  { backend, profile }: StoreOptions,
  env: Environment = process.env,
): SelectedStore | undefined {
  if (backend !== undefined && profile !== undefined)
    throw misconfigured('--backend and --profile both select the store: use one of them');
  if (backend !== undefined) return storeOf({ url: backend }, env);
  if (profile !== undefined) return storeOf(profileNamed(readConfig(env), profile), env);
  if (env['QUEUELOCK_URL']) return storeOf({ url: env['QUEUELOCK_URL'] }, env);
  if (env['QUEUELOCK_PROFILE']) return storeOf(profileNamed(readConfig(env), env['QUEUELOCK_PROFILE']), env);
  return undefined;
}

function findDefaultStore(env: Environment): SelectedStore | undefined {
  const config = readConfig(env);
  return config.default === undefined ? undefined : storeOf(profileNamed(config, config.default), env);
}

function profileNamed({ file, profiles }: Config, name: string): Profile {
  const profile = profiles.get(name);
  if (profile) return profile;
  const known =
    profiles.size === 0 ? 'the file has no profiles' : `known profiles: ${[...profiles.keys()].join(', ')}`;
  throw misconfigured(`there is no profile ${JSON.stringify(name)} in ${file}; ${known}`);
}

function storeOf({ url, ttl, epoch, record, ...profile }: Profile, env: Environment): SelectedStore {
  const { user = profile.user, passwordFile = profile.passwordFile, password } = credentialsIn(env);
  const secret = password ?? (passwordFile === undefined ? undefined : readPassword(passwordFile));
  return {
    url: withCredentials(url, { user, password: secret }),
    ...(ttl === undefined ? {} : { ttl }),
    ...(epoch === undefined ? {} : { epoch }),
    ...(record === undefined ? {} : { record }),
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
