import { Option } from '@commander-js/extra-typings';
import { isQueueLockError, type AcquireOptions } from '@queuelock/core';
import type { ClientOptions } from '../client.ts';
import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';
import { MAX_MS, wholeNumber } from '../options.ts';
import { defaultGraceMs } from './action.ts';

/** Options that `run` and `elect` share. Times in milliseconds, the TTL in seconds. */
export interface TermOptions extends ClientOptions {
  readonly wait?: number;
  readonly try?: true;
  readonly needs?: number;
  readonly grace?: number;
  readonly onLoss: OnLoss;
  readonly keep?: true;
  readonly passCredentials?: true;
}

/** What happens to a command when its hold is about to be lost. */
export type OnLoss = 'stop' | 'continue';

type NumberOption<Usage extends string> = Option<Usage, undefined, undefined, number>;

export function epochOption(): NumberOption<'--epoch <n>'> {
  return new Option(
    '--epoch <n>',
    'epoch of the fencing tokens, raised after every restore of the store (default: 0)',
  ).argParser(wholeNumber(0, Number.MAX_SAFE_INTEGER));
}

export function waitOption(): NumberOption<'--wait <ms>'> {
  return new Option('--wait <ms>', 'longest wait (default: forever)').argParser(wholeNumber(0, MAX_MS));
}

export function tryOption(): Option<'--try'> {
  return new Option(
    '--try',
    `do not wait; if the lock is not free, exit with code ${String(EXIT.busy)}`,
  ).conflicts('wait');
}

export function needsOption(): NumberOption<'--needs <ms>'> {
  return new Option('--needs <ms>', 'start only if the hold is proven for at least this long').argParser(
    wholeNumber(0, MAX_MS),
  );
}

export function graceOption(): NumberOption<'--grace <ms>'> {
  return new Option(
    '--grace <ms>',
    'time between SIGTERM and SIGKILL (default: 2000, at most a quarter of the TTL)',
  ).argParser(wholeNumber(0, MAX_MS));
}

export function onLossOption(): Option<'--on-loss <what>', undefined, 'stop', undefined, false, OnLoss> {
  return new Option('--on-loss <what>', 'stop the command before the lock can be lost, or let it continue')
    .choices(['stop', 'continue'] as const)
    .default('stop' as const);
}

export function keepOption(): Option<'--keep'> {
  return new Option('--keep', 'join the queue again after a loss, an outage, or a failed command');
}

export function passCredentialsOption(): Option<'--pass-credentials'> {
  return new Option(
    '--pass-credentials',
    'keep QUEUELOCK_URL, _USER, _PASSWORD and _PASSWORD_FILE in the environment of the command',
  );
}

/** Returns the longest wait for the grant, as the options of the command line set it. */
export function waitOf({
  wait,
  needs,
  ...options
}: TermOptions): Pick<AcquireOptions, 'timeoutMs' | 'minRemainingMs'> {
  const timeoutMs = options.try ? 0 : wait;
  return {
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(needs === undefined ? {} : { minRemainingMs: needs }),
  };
}

/**
 * Waits for the grant. If a time limit ends the wait, the error names the option that set it, for instance
 * `--try`.
 */
export async function unlessBusy<T>(turn: Promise<T>, name: string, options: TermOptions): Promise<T> {
  try {
    return await turn;
  } catch (error) {
    if (!options.try || !isQueueLockError(error, 'TIMEOUT')) throw error;
    throw new Failure(`another client holds ${JSON.stringify(name)}, and --try does not wait`, {
      exitCode: EXIT.busy,
    });
  }
}

/**
 * Returns the grace period of the command line, or the default for this TTL.
 * @throws {Failure} when the grace period does not leave at least half of the TTL for heartbeats
 */
export function graceOf(grace: number | undefined, ttlMs: number): number {
  if (grace === undefined) return defaultGraceMs(ttlMs);
  if (grace <= ttlMs / 2) return grace;
  throw new Failure(
    `option '--grace <ms>' argument '${String(grace)}' is invalid. It must be at most half of --ttl (${String(ttlMs / 2)} ms).`,
    { exitCode: EXIT.usage },
  );
}

/** Help text for all commands that run a program. */
export const ABOUT_COMMANDS: string = `When the server is out of reach, the command gets SIGTERM and, after the grace period, SIGKILL, with all its descendants, before
the server can grant the lock to the next waiter. A watchdog process does that too if queuelock is frozen or killed.
With --on-loss continue it keeps running: use that only if every write carries the token to a store that rejects older ones.

The command does not get QUEUELOCK_URL, QUEUELOCK_USER, QUEUELOCK_PASSWORD and QUEUELOCK_PASSWORD_FILE, unless --pass-credentials is given.

With --keep it joins the end of the queue again after a loss, an outage, or a failed command, after a backoff of 0.1 to 30 s.
It ends when the command succeeds (0), upon a signal, and after an error that a retry cannot fix.

Exit code: the command's own (128+n if signal n ended it); ${String(EXIT.lost)} if the lock was lost before it had ended;
${String(EXIT.busy)} if the lock was not free in time; ${String(EXIT.notFound)} or ${String(EXIT.notExecutable)} if it could not be started; ${String(EXIT.failure)} if the server refused; ${String(EXIT.usage)} for a wrong command line.`;
