import type { LockClient, QueueLockError } from '@queuelock/core';
import {
  groupBy,
  map,
  concatMap,
  pipe,
  take,
  timer,
  type OperatorFunction,
  type SchedulerLike,
  type Subscription,
} from 'rxjs';
import { describeFailure } from './failure.ts';

/** Prints a message to stderr, without any effect on the exit code. */
export function note(line: string): void {
  process.stderr.write(`${describeFailure(line, false)}\n`);
}

/**
 * Prints the client's errors that interrupt neither a hold nor a wait, for instance a certificate file that
 * can no longer be read.
 */
export function noteErrors({ errors$ }: Pick<LockClient, 'errors$'>): Subscription {
  return errors$.pipe(eachOncePerMinute()).subscribe({
    next: note,
    error: (error: unknown) => {
      note(String(error));
    },
  });
}

const MINUTE_MS = 60_000;

/**
 * Maps errors to their messages. Emits the same message at most once a minute, because an error may repeat
 * with each attempt to connect.
 */
export function eachOncePerMinute(scheduler?: SchedulerLike): OperatorFunction<QueueLockError, string> {
  return pipe(
    groupBy(({ message }: QueueLockError) => message, { duration: () => timer(MINUTE_MS, scheduler) }),
    concatMap((same$) => same$.pipe(take(1))),
    map(({ message }) => message),
  );
}
