import type { Clock, LockClient, QueueState } from '@queuelock/core';
import { checkedOptions, type KnownOptions } from '@queuelock/core/backend';
import { wholeNumber } from './arguments.ts';
import { machineClock } from './clock.ts';
import { ConfirmedDeadlocks } from './deadlock-confirm.ts';
import { keyOf, type Deadlock } from './deadlock.ts';
import {
  Observable,
  ReplaySubject,
  combineLatest,
  distinctUntilChanged,
  endWith,
  ignoreElements,
  of,
  share,
  tap,
} from './rx.ts';

/** Queues of one backend. */
export interface DeadlockSource {
  readonly client: Pick<LockClient, 'watch'>;
  readonly names: readonly string[];
}

/** How deadlocks are watched for. */
export interface DeadlockWatchOptions {
  /** How long the entries of a circle have to be seen before it is reported, in milliseconds; it may take twice that. Default 500. */
  readonly confirmMs?: number;
  /** For tests: the time that counts. Default: the machine's. */
  readonly clock?: Clock;
}

/**
 * The deadlocks in these queues: those that there are now (none, to begin with), then at every change. Shared among all who subscribe,
 * with one watch for each queue; never errors; completes when all clients are closed.
 *
 * A report is true: pictures of different queues are not of one moment, but only what was there already in pictures of `confirmMs` ago
 * counts, and that was all there at that moment, if no picture is older than `confirmMs`. Queues whose server cannot be reached, and
 * queues of a closed client, are not judged. Not promised: that a server which cannot be reached is found out in time, so a circle that
 * has just been resolved may be reported while a connection hangs.
 *
 * @throws {QueueLockError} `INVALID_ARGUMENT` at the call.
 */
export function watchDeadlocks(
  sources: readonly DeadlockSource[],
  options?: DeadlockWatchOptions,
): Observable<readonly Deadlock[]> {
  const { confirmMs = 500, clock = machineClock } = checkedOptions(
    'options of watchDeadlocks',
    options,
    OPTIONS,
  );
  wholeNumber('confirmMs', confirmMs, { min: 0 });
  const watches = sources.flatMap(({ client, names }) => names.map((name) => watchWhileOpen(client, name)));
  const pictures$ = watches.length === 0 ? of([]) : combineLatest(watches);
  const deadlocks$ = new Observable<readonly Deadlock[]>((subscriber) => {
    const report = (deadlocks: readonly Deadlock[]): void => subscriber.next(deadlocks);
    const confirmed = new ConfirmedDeadlocks({ confirmMs, clock, report });
    subscriber.add(() => {
      confirmed.stop();
    });
    const looks$ = pictures$.pipe(
      tap((pictures) => {
        confirmed.look(pictures);
      }),
      ignoreElements(),
    );
    subscriber.add(looks$.subscribe(subscriber));
  });
  return deadlocks$.pipe(
    distinctUntilChanged(areSame),
    share({
      connector: () => new ReplaySubject(1),
      resetOnComplete: true,
      resetOnError: true,
      resetOnRefCountZero: true,
    }),
  );
}

const OPTIONS: KnownOptions<DeadlockWatchOptions> = { confirmMs: 'any', clock: 'object' };

function watchWhileOpen(client: DeadlockSource['client'], name: string): Observable<QueueState> {
  return client.watch(name).pipe(endWith<QueueState>({ status: 'stale', name, entries: [] }));
}

function areSame(before: readonly Deadlock[], now: readonly Deadlock[]): boolean {
  return before.map(keyOf).join() === now.map(keyOf).join();
}
