import { isQueueLockError, toPrintable, type QueueLockErrorCode } from '@queuelock/core';
import { EXIT } from './exit-codes.ts';
import { redact } from './secrets.ts';

/** An error with an exit code, whose message names the remedy. */
export class Failure extends Error {
  override readonly name: string = 'Failure';
  readonly exitCode: number;

  constructor(message: string, options: { readonly exitCode: number; readonly cause?: unknown }) {
    super(message, 'cause' in options ? { cause: options.cause } : {});
    this.exitCode = options.exitCode;
  }
}

const ADVICE: Partial<Record<QueueLockErrorCode, string>> = {
  TIMEOUT: 'allow a longer wait (--wait), or find the holder with queuelock who',
  UNAVAILABLE: 'check that the server runs and that the address is right',
  ACCESS_DENIED: 'check user, password and permissions',
  SESSION_LOST: 'the server was out of reach for too long; try again, or allow a longer --ttl',
  ENTRY_LOST: 'try again',
};

/** Returns the exit code for an error that ended a command. */
export function exitCodeFor(error: unknown): number {
  if (error instanceof Failure) return error.exitCode;
  if (isQueueLockError(error, 'INVALID_ARGUMENT')) return EXIT.usage;
  if (isQueueLockError(error, 'OWNERSHIP_LOST')) return EXIT.lost;
  if (isQueueLockError(error, 'TIMEOUT')) return EXIT.busy;
  return EXIT.failure;
}

/**
 * Formats an error for stderr: one line, and with `verbose` one more for every cause. The text contains no
 * password and no control characters.
 */
export function describeFailure(error: unknown, verbose: boolean): string {
  const advice = adviceFor(error);
  const message = redact(messageOf(error)).replace(/[\s:;.]+$/, '');
  // Adds the advice for the error's code, unless the message already ends with it, as it does when a wait has
  // timed out.
  const first = `queuelock: ${message}${advice === '' || message.endsWith(advice) ? '' : `; ${advice}`}`;
  const lines = verbose
    ? [first, ...causesOf(error).map((cause) => `  caused by: ${redact(messageOf(cause))}`)]
    : [first];
  return lines.map((line) => toPrintable(oneLine(line), MAX_LINE)).join('\n');
}

function adviceFor(error: unknown): string {
  if (!isQueueLockError(error)) return '';
  // The store has sent this error itself, so the advice for a store that cannot be reached would be wrong. The
  // error message names the limit or setting to change.
  if (error.code === 'UNAVAILABLE' && error.responded) return '';
  return ADVICE[error.code] ?? '';
}

/** Formats an error message of the library commander about an invalid command line. */
export function describeUsageError(text: string): string {
  const message = oneLine(redact(text).trim())
    .replace(/^error: /, '')
    .replace(/\.$/, '');
  const dashes = message.startsWith('unknown option')
    ? ' (the options of a command to run come after --)'
    : '';
  return toPrintable(`queuelock: ${message}${dashes}; see queuelock --help`, MAX_LINE);
}

function causesOf(error: unknown): unknown[] {
  const causes: unknown[] = [];
  let cause = error instanceof Error ? error.cause : undefined;
  while (cause !== undefined && causes.length < 10) {
    causes.push(cause);
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return causes;
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join(', ');
  return error instanceof Error ? error.message || error.name : String(error);
}

/** Length limit of a printed error line, in UTF-16 code units. */
const MAX_LINE = 10_000;

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ');
}
