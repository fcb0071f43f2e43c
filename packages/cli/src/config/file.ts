import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { hasPassword } from './credentials.ts';
import { requirePrivate } from './private-file.ts';
import { fieldsOf, misconfigured, textIn, wholeIn, type Fields } from './shape.ts';

/** A profile of the configuration file, which describes one store. */
export interface Profile {
  readonly url: string;
  /** User name; a user in the URL takes precedence. */
  readonly user?: string;
  /** Path of a file that contains only the password. */
  readonly passwordFile?: string;
  /** Lease TTL in seconds, as `--ttl`. */
  readonly ttl?: number;
  /**
   * Number that precedes all fencing tokens, as `--epoch`. An operator raises it when the store was restored
   * from a snapshot.
   */
  readonly epoch?: number;
  /** Number of holds to record for each lock name, as `--record`. */
  readonly record?: number;
}

/** The configuration file of `queuelock`. */
export interface Config {
  /** Path of the file, whether or not it exists, for messages. */
  readonly file: string;
  /** Name of the default profile. */
  readonly default: string | undefined;
  readonly profiles: ReadonlyMap<string, Profile>;
}

/** Environment variables of a process. */
export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Returns the path of the configuration file: `QUEUELOCK_CONFIG`, else `queuelock/config.json` in `$XDG_CONFIG_HOME` or
 * `~/.config`.
 */
export function configPath(env: Environment): string {
  if (env['QUEUELOCK_CONFIG']) return env['QUEUELOCK_CONFIG'];
  return join(
    env['XDG_CONFIG_HOME'] ? env['XDG_CONFIG_HOME'] : join(homedir(), '.config'),
    'queuelock',
    'config.json',
  );
}

/**
 * Reads the configuration. Without a file it has no profiles.
 * @throws {Failure} with one line that names the field to correct
 */
export function readConfig(env: Environment): Config {
  const file = configPath(env);
  const text = textOf(file, Boolean(env['QUEUELOCK_CONFIG']));
  const config = text === undefined ? {} : fieldsOf(file, parsed(file, text), ['default', 'profiles']);
  const named = Object.entries(fieldsOf(`${file}: profiles`, config['profiles'] ?? {}));
  const profiles = new Map(named.map(([name, value]) => [name, profileOf(`${file}: ${name}`, value)]));
  if ([...profiles.values()].some(({ url }) => hasPassword(url)))
    requirePrivate('configuration with a password', file, statSync(file));
  return { file, default: textIn(`${file}: default`, config['default']), profiles };
}

function textOf(file: string, isNamed: boolean): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    if (!isNamed && (code === 'ENOENT' || code === 'ENOTDIR')) return undefined;
    throw misconfigured(`cannot read the configuration ${file}: ${code}`);
  }
}

/**
 * Parses the configuration file. Throws its own error instead of the JSON parser's, which quotes the file and
 * may show a password.
 */
function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const [where] = /line \d+ column \d+/.exec(String(error)) ?? [];
    throw misconfigured(
      `the configuration ${file} is not JSON${where === undefined ? '' : `, see ${where}`}`,
    );
  }
}

function profileOf(where: string, value: unknown): Profile {
  const fields = fieldsOf(where, value, ['url', 'user', 'passwordFile', 'ttl', 'epoch', 'record']);
  const url = textIn(`${where}.url`, fields['url']);
  if (url === undefined) throw misconfigured(`${where} needs a url, such as etcd://127.0.0.1:2379`);
  return { url, ...textsOf(where, fields), ...numbersOf(where, fields) };
}

function textsOf(where: string, fields: Fields): Pick<Profile, 'user' | 'passwordFile'> {
  const user = textIn(`${where}.user`, fields['user']);
  const passwordFile = textIn(`${where}.passwordFile`, fields['passwordFile']);
  return { ...(user === undefined ? {} : { user }), ...(passwordFile === undefined ? {} : { passwordFile }) };
}

function numbersOf(where: string, fields: Fields): Pick<Profile, 'ttl' | 'epoch' | 'record'> {
  const ttl = wholeIn(`${where}.ttl`, fields['ttl'], 1);
  const epoch = wholeIn(`${where}.epoch`, fields['epoch'], 0);
  const record = wholeIn(`${where}.record`, fields['record'], 0);
  return {
    ...(ttl === undefined ? {} : { ttl }),
    ...(epoch === undefined ? {} : { epoch }),
    ...(record === undefined ? {} : { record }),
  };
}
