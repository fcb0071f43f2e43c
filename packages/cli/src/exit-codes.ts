import { constants } from 'node:os';

/**
 * Exit codes of `queuelock`. The command `run` exits with the code of the program that it runs, unless the
 * lock was lost.
 */
export const EXIT = {
  ok: 0,
  /** The server rejected the request, the queue could not be used, or the demo's verdict is negative. */
  failure: 1,
  /** The command line is invalid, so a repetition cannot succeed. */
  usage: 2,
  /**
   * The requested thing does not exist or no longer exists: there is no leader, no such entry, or the token
   * is not the current one.
   */
  absent: 3,
  /** Another client holds the lock, and the time to wait is over or was 0 (sysexits.h: EX_UNAVAILABLE). */
  busy: 69,
  /** The lock was lost while it was held (sysexits.h: EX_TEMPFAIL, the caller may try again). */
  lost: 75,
  /** Code of shells for a program that exists but cannot be started. */
  notExecutable: 126,
  /** Code of shells for a program that does not exist. */
  notFound: 127,
} as const;

/** Returns 128 + the signal's number, as shells do. */
export function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
