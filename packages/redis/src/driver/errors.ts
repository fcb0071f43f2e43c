import { QueueLockError, failureOf, isQueueLockError } from '@queuelock/core/backend';
import type { Address } from './driver.ts';
import { FOREIGN } from '../lua/keys.ts';

const FOREIGN_KEY = new RegExp(`${FOREIGN} (.+?) (.*) ${FOREIGN}`, 's');
// Matches the error code at the beginning of a message, such as `NOPERM`. Redis 6.2 puts the number of the
// script's line before it.
const WORD = /^(?:ReplyError: )?(?:ERR )?(?:@user_script: ?\d+: )?-?(?:ERR )?([A-Z]+)\b/;
const DENIED: ReadonlySet<string> = new Set(['NOAUTH', 'WRONGPASS', 'NOPERM', 'DENIED']);

// Matches the message of Redis 7.0 about a denied command in a script, which has no error code.
const DENIED_IN_SCRIPT = /The user executing the script can't/;

/** Matches the error of a command that `rename-command` or a proxy has removed, also in a script. */
const REMOVED = /unknown (?:redis )?command|invalid command passed to redis\.acl_check_cmd/i;

/** Hints for the operator of the server, by error code. */
const HINTS: ReadonlyMap<string, string> = new Map([
  ['READONLY', 'this server is a replica: use the primary'],
  ['OOM', 'the memory of the server is full (maxmemory)'],
  ['MISCONF', 'the server cannot write to its disk'],
  ['LOADING', 'the server is reading its data'],
  ['BUSY', 'another program runs a long script: SCRIPT KILL ends it unless it has written'],
  ['NOREPLICAS', 'the server requires more replicas than it has'],
  ['ASK', 'the cluster migrates the slot of these keys: steps continue after that'],
  ['TRYAGAIN', 'the cluster migrates the slot of these keys: steps continue after that'],
]);

/**
 * Hints for the operator of the server, for errors that have no error code. The pattern matches the error's
 * text.
 */
const TEXT_HINTS: readonly (readonly [RegExp, string])[] = [
  [/max number of clients/i, 'the server has no connection left: raise maxclients'],
  [
    /Socket closed unexpectedly|Connection is closed/,
    'if the server runs, its log names the limit of connections: maxmemory-clients, client-output-buffer-limit or maxclients',
  ],
];

/** Returns the error code with which the server has refused a command, for instance `NOPERM`. Empty for any other error. */
export function wordOf(error: unknown): string {
  return error instanceof Error ? (WORD.exec(error.message)?.[1] ?? '') : '';
}

/**
 * Returns the address in a `MOVED` error: another server of the cluster has the keys. `undefined` for other errors. If the error contains
 * no host, the other server has the host of the server that sent the error.
 */
export function movedTo(error: unknown): Partial<Address> | undefined {
  const [, host, port] = /^MOVED \d+ (.*):(\d+)$/.exec(error instanceof Error ? error.message : '') ?? [];
  if (port === undefined) return undefined;
  return host ? { host, port: Number(port) } : { port: Number(port) };
}

/**
 * Returns whether the server has refused a step because the cluster is migrating its keys. The redirect `ASK` is not followed: the other
 * server has only some of the keys yet, and a step there would treat the keys that are still to come as missing.
 */
export function isMigrating(error: unknown): boolean {
  return ['ASK', 'TRYAGAIN'].includes(wordOf(error));
}

/**
 * Throws an error because the npm package redis cannot be loaded. The error is not retried, since the next attempt would fail too.
 * @throws {QueueLockError} `INVALID_ARGUMENT`
 */
export function refuseWithoutLibrary(error: unknown): never {
  const message = `the npm package redis cannot be loaded (${failureOf(error)}): run npm install redis and let a bundler leave it out, or pass a client`;
  throw new QueueLockError('INVALID_ARGUMENT', message, { cause: error });
}

/** Converts an error of a client library to a `QueueLockError`: `UNAVAILABLE` if a retry may succeed, otherwise a code that names the reason. */
export function asQueueLockError(error: unknown, endpoint: string): QueueLockError {
  if (isQueueLockError(error)) return error;
  const detail = failureOf(error);
  const options = { cause: error };
  const [, found, key] = FOREIGN_KEY.exec(detail) ?? [];
  if (found !== undefined && key !== undefined) {
    const message = `${endpoint}: the key ${JSON.stringify(key)} was not written by queuelock, or by another release of it (${found}); nothing was changed: choose another prefix, or rename the key`;
    return new QueueLockError('FOREIGN_FORMAT', message, options);
  }
  const word = wordOf(error);
  if (DENIED.has(word) || DENIED_IN_SCRIPT.test(detail)) {
    const message = `${endpoint} refuses: ${detail}; the user needs the commands eval, evalsha, publish and subscribe, and those that the scripts use, on keys and channels of the prefix`;
    return new QueueLockError('ACCESS_DENIED', message, options);
  }
  if (REMOVED.test(detail)) {
    const message = `${endpoint} lacks a command that locks need: ${detail}; let rename-command or the proxy keep eval, evalsha, publish and subscribe`;
    return new QueueLockError('ACCESS_DENIED', message, options);
  }
  const message = `${endpoint}: ${describe(error)}`;
  return new QueueLockError('UNAVAILABLE', message, { ...options, responded: word !== '' });
}

/** Returns the message of an error, with a hint for the operator of the server if there is one. */
export function describe(error: unknown): string {
  const detail = failureOf(error);
  const hint = HINTS.get(wordOf(error)) ?? TEXT_HINTS.find(([pattern]) => pattern.test(detail))?.[1];
  return hint === undefined ? detail : `${detail} (${hint})`;
}
