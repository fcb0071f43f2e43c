import { constants } from 'node:os';

/** What the command's exit codes mean; `run` answers with its command's own code unless the lock was lost. */
export const EXIT = {
  ok: 0,
  /** The server, the queue or the verdict said no. */
  failure: 1,
  /** The command line can never succeed as written. */
  usage: 2,
  /** What was asked for is not there (any more): nobody leads, no such entry, the token is not the current one. */
  absent: 3,
  /** Somebody else has the lock and there was no time, or no wish, to wait (sysexits.h: EX_UNAVAILABLE). */
  busy: 69,
  /** The lock was lost while it was held (sysexits.h: EX_TEMPFAIL, the caller may try again). */
  lost: 75,
  /** As shells answer when a program is there but cannot be started. */
  notExecutable: 126,
  /** As shells answer when there is no such program. */
  notFound: 127,
} as const;

/** 128 + the signal's number, as shells answer. */
export function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
