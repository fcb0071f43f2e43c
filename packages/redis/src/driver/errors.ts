import { QueueLockError, failureOf, isQueueLockError } from '@queuelock/core/backend';
import type { Address } from './driver.ts';
import { FOREIGN } from '../lua/keys.ts';

const FOREIGN_KEY = new RegExp(`${FOREIGN} (.+?) (.*) ${FOREIGN}`, 's');
// Redis 6.2 tells in which line of a script it was.
const WORD = /^(?:ReplyError: )?(?:ERR )?(?:@user_script: ?\d+: )?-?(?:ERR )?([A-Z]+)\b/;
const DENIED: ReadonlySet<string> = new Set(['NOAUTH', 'WRONGPASS', 'NOPERM', 'DENIED']);

// Redis 7.0 has no word for it.
const DENIED_IN_SCRIPT = /The user executing the script can't/;

/** What somebody may do about it. */
const HINTS: ReadonlyMap<string, string> = new Map([
  ['READONLY', 'this server is a replica: locks are made on the primary'],
  ['OOM', 'the memory of the server is full (maxmemory)'],
  ['MISCONF', 'the server cannot write to its disk'],
  ['LOADING', 'the server is reading its data'],
  ['NOREPLICAS', 'the server wants more replicas than it has'],
  ['ASK', 'the cluster migrates the slot of these keys: steps go on when that is done'],
  ['TRYAGAIN', 'the cluster migrates the slot of these keys: steps go on when that is done'],
]);

/** What the server's refusal is, by its first word; empty for anything else. */
export function wordOf(error: unknown): string {
  return error instanceof Error ? (WORD.exec(error.message)?.[1] ?? '') : '';
}

/** Another server of the cluster has the keys. Where it does not know its host, that is the host of the server that says so. */
export function movedTo(error: unknown): Partial<Address> | undefined {
  const [, host, port] = /^MOVED \d+ (.*):(\d+)$/.exec(error instanceof Error ? error.message : '') ?? [];
  if (port === undefined) return undefined;
  return host ? { host, port: Number(port) } : { port: Number(port) };
}

/**
 * The slot of the keys is being migrated, and the step was refused as a whole. `ASK` is not followed: the other server has some of the keys
 * already, and a step there would take the others for absent.
 */
export function isMigrating(error: unknown): boolean {
  return ['ASK', 'TRYAGAIN'].includes(wordOf(error));
}

/** An error of a client library as one of ours: definite where trying again is no use. */
export function asQueueLockError(error: unknown, endpoint: string): QueueLockError {
  if (isQueueLockError(error)) return error;
  const detail = failureOf(error);
  const options = { cause: error };
  const [, found, key] = FOREIGN_KEY.exec(detail) ?? [];
  if (found !== undefined && key !== undefined) {
    const message = `${endpoint}: the key ${JSON.stringify(key)} is not of queuelock, or of another release of it (${found}); it is left as it is: choose another prefix, or move it away`;
    return new QueueLockError('FOREIGN_FORMAT', message, options);
  }
  const word = wordOf(error);
  if (DENIED.has(word) || DENIED_IN_SCRIPT.test(detail)) {
    const message = `${endpoint} refuses: ${detail}; the user needs the commands eval, evalsha, publish and subscribe, and those that the scripts use, on keys and channels of the prefix`;
    return new QueueLockError('ACCESS_DENIED', message, options);
  }
  const hint = HINTS.get(word);
  return new QueueLockError('UNAVAILABLE', `${endpoint}: ${detail}${hint ? ` (${hint})` : ''}`, options);
}
