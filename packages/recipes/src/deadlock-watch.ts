import type { Clock, LockClient, QueueState } from '@queuelock/core';
import { checkedOptions, inCallerContext, type KnownOptions } from '@queuelock/core/backend';
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

/** Queues of one backend that are watched for deadlocks. */
export interface DeadlockSource {
  readonly client: Pick<LockClient, 'watch'>;
  readonly names: readonly string[];
}

/** Settings of `watchDeadlocks`. */
export interface DeadlockWatchOptions {
  /**
   * How long clients must have seen the entries of a cycle before it is reported, in milliseconds. The report may come up to twice that
   * time after the cycle began. Default 500.
   */
  readonly confirmMs?: number;
  /** Source of time, for tests. Default: the machine's monotonic clock. */
  readonly clock?: Clock;
}

/**
 * Returns a stream of the deadlocks in these queues: the present list at once (empty at first), then after every change. All subscribers
 * share it, with one watch for each queue. The stream never errors, and completes when all clients are closed.
 *
 * Reported deadlocks exist. Snapshots of different queues are of different times. So a deadlock is reported only if the snapshots of
 * `confirmMs` ago already contained its entries. Then they all were in their queues at one moment, unless a snapshot arrives more than
 * `confirmMs` late. Queues whose server cannot be reached and queues of a closed client are left out.
 *
 * Not promised: that an unreachable server is noticed in time. While a connection hangs, a cycle that was just resolved may be reported.
 * @throws {QueueLockError} `INVALID_ARGUMENT` at the call
 * @example
 * const deadlocks$ = watchDeadlocks([{ client, names: ['accounts/1', 'accounts/2'] }]);
 * deadlocks$.subscribe((deadlocks) => deadlocks.forEach((deadlock) => console.warn(describeDeadlock(deadlock))));
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
  const snapshots$ = watches.length === 0 ? of([]) : combineLatest(watches);
  const deadlocks$ = new Observable<readonly Deadlock[]>((subscriber) => {
    const report = (deadlocks: readonly Deadlock[]): void => subscriber.next(deadlocks);
    const confirmed = new ConfirmedDeadlocks({ confirmMs, clock, report });
    subscriber.add(() => {
      confirmed.stop();
    });
    const reads$ = snapshots$.pipe(
      tap((snapshots) => {
        confirmed.read(snapshots);
      }),
      ignoreElements(),
    );
    subscriber.add(reads$.subscribe(subscriber));
  });
  const shared$ = deadlocks$.pipe(
    distinctUntilChanged(areSame),
    share({
      connector: () => new ReplaySubject(1),
      resetOnComplete: true,
      resetOnError: true,
      resetOnRefCountZero: true,
    }),
  );
  return inCallerContext(shared$);
}

const OPTIONS: KnownOptions<DeadlockWatchOptions> = { confirmMs: 'any', clock: 'object' };

function watchWhileOpen(client: DeadlockSource['client'], name: string): Observable<QueueState> {
  return client.watch(name).pipe(endWith<QueueState>({ status: 'stale', name, entries: [] }));
}

function areSame(before: readonly Deadlock[], now: readonly Deadlock[]): boolean {
  return before.map(keyOf).join() === now.map(keyOf).join();
}
