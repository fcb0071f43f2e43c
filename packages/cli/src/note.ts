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

/** Prints a notice that does not change the exit code to stderr. */
export function note(line: string): void {
  process.stderr.write(`${describeFailure(line, false)}\n`);
}

/** Prints errors that end no hold and no wait, for instance that a certificate file cannot be read again. */
export function noteErrors({ errors$ }: Pick<LockClient, 'errors$'>): Subscription {
  return errors$.pipe(eachOncePerMinute()).subscribe({
    next: note,
    error: (error: unknown) => {
      note(String(error));
    },
  });
}

const MINUTE_MS = 60_000;

/** Emits the messages of errors. An error that repeats with each attempt to connect is emitted once a minute. */
export function eachOncePerMinute(scheduler?: SchedulerLike): OperatorFunction<QueueLockError, string> {
  return pipe(
    groupBy(({ message }: QueueLockError) => message, { duration: () => timer(MINUTE_MS, scheduler) }),
    concatMap((same$) => same$.pipe(take(1))),
    map(({ message }) => message),
  );
}
