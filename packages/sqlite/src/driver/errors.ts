import { QueueLockError, detailOf, invalidArgument, isQueueLockError } from '@queuelock/core/backend';

// Primary result codes of SQLite (https://www.sqlite.org/rescode.html). An extended code has them in its
// lowest byte.
const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const NOTADB = 26;

/** Hints for the operator, by result code. */
const HINTS: ReadonlyMap<number, string> = new Map([
  [BUSY, 'another program keeps the file locked: no other program may open it'],
  [IOERR, 'the disk or its file system is full or broken'],
  [FULL, 'free space on its file system'],
]);

/** The error for a row with a value that no process of this library stores. */
export class UnsoundFile extends Error {
  override readonly name: string = 'UnsoundFile';
}

/** Returns the primary result code of an error of SQLite; `undefined` for any other error. */
function resultCode(error: unknown): number | undefined {
  const code = error instanceof Error && 'errcode' in error ? error.errcode : undefined;
  return typeof code === 'number' ? code & 0xff : undefined;
}

/** Returns whether an error of SQLite means that another process has the file locked at the moment. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error);
  return code === BUSY || code === LOCKED;
}

/**
 * Returns whether the error means that the file contains invalid values. Drivers refuse to read an integer
 * that is too large for JavaScript. The npm package reports that with another code when it reads several
 * rows.
 */
function isUnsound(error: unknown): boolean {
  if (error instanceof UnsoundFile) return true;
  if (!(error instanceof Error) || !('code' in error)) return false;
  return error.code === 'ERR_OUT_OF_RANGE' || error.message.includes('too large to be represented');
}

/** Converts an error of SQLite to a `QueueLockError`. The error is definite if a retry cannot succeed. */
export function asQueueLockError(error: unknown, file: string): QueueLockError {
  if (isQueueLockError(error)) return error;
  const code = resultCode(error);
  const options = { cause: error };
  if (code === NOTADB || code === CORRUPT || isUnsound(error)) {
    const rule = `is a sound queuelock file: this one is damaged or not a SQLite file (${detailOf(error)}); stop all processes that use it and move it away, then it is created again`;
    return invalidArgument('file', file, rule);
  }
  if (code === READONLY || code === CANTOPEN) {
    const message = `${file} cannot be opened for writing: ${detailOf(error)}; check the permissions of the file and its directory`;
    return new QueueLockError('ACCESS_DENIED', message, options);
  }
  const hint = code === undefined ? undefined : HINTS.get(code);
  const message = `${file}: ${detailOf(error)}${hint === undefined ? '' : ` (${hint})`}`;
  return new QueueLockError('UNAVAILABLE', message, { ...options, responded: true });
}

/** Creates the error with which all sessions end whose file was removed or replaced. */
export function fileMissing(file: string): QueueLockError {
  return new QueueLockError(
    'SESSION_LOST',
    `${file} (or its side file -wal or -shm) was removed or replaced while it was in use, so every session in it is lost`,
  );
}
