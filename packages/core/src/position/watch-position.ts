import type { LockClient } from '../api/api.ts';
import { checkTypicalHold } from '../checks/arguments.ts';
import { checkedOptions, type KnownOptions } from '../checks/checked-options.ts';
import { inCallerContext } from '../base/caller-context.ts';
import { systemClock, type Clock } from '../base/clock.ts';
import { invalidArgument } from '../api/errors.ts';
import { expectedWaitAt } from '../turn/expected-wait.ts';
import type { QueuePosition } from '../api/position-api.ts';
import { paced } from '../base/paced.ts';
import { positionsOf } from '../turn/positions.ts';
import type { QueueEntry, QueueState } from '../api/queue-api.ts';
import {
  concat,
  defer,
  distinctUntilChanged,
  filter,
  map,
  of,
  switchMap,
  takeWhile,
  tap,
  type Observable,
} from '../base/rx.ts';
import { SeenHolds } from '../turn/seen-holds.ts';
import { after } from '../base/timer.ts';

/** Minimum interval between two positions, and between two reads of the queue, in milliseconds. Changes in between are merged. */
export const POSITION_INTERVAL_MS = 250;

/** The clock and the settings for computing positions. */
export interface PositionTools {
  readonly clock: Clock;
  /** Assumed hold time in milliseconds for entries whose clients announce none. Used until a hold was observed. */
  readonly typicalHoldMs?: number | undefined;
}

/** Options of `watchPosition`. */
export interface WatchPositionOptions {
  /** The entry's id, from an ownership or as observed in a queue. */
  readonly id: string;
  /** How long to wait until the entry appears in the queue, in milliseconds. Default 2,000. */
  readonly appearsWithinMs?: number;
  /** Assumed hold time in milliseconds for entries ahead whose clients announce none. Used until a hold was observed. Default: unknown. */
  readonly typicalHoldMs?: number;
  /** Clock, replaceable in tests. Default: the machine's. */
  readonly clock?: Clock;
}

/**
 * Watches the position of any client's entry. Emits the position, then its changes, at most four times a second. Completes when the entry has left
 * the queue or does not appear in it, or when the client is closed. Never errors. For the position of your own claim, use
 * `LockClient.claimWithPosition`.
 *
 * The expected wait is computed by `expectedWait` from announced hold times (`typicalHoldMs`), otherwise from the holds this stream has observed.
 * The observed part of the current holds is subtracted.
 * @throws {QueueLockError} `INVALID_ARGUMENT` at the call
 * @example
 * ```ts
 * watchPosition(locks, 'reports', { id }).subscribe(({ position, expectedWaitMs }) => show(position, expectedWaitMs));
 * ```
 */
export function watchPosition(
  locks: Pick<LockClient, 'watch'>,
  name: string,
  options: WatchPositionOptions,
): Observable<QueuePosition> {
  const {
    id,
    appearsWithinMs = 2_000,
    typicalHoldMs,
    clock = systemClock(),
  } = checkedOptions('options of watchPosition', options, OPTIONS);
  if (typeof id !== 'string') throw invalidArgument('id', id, 'is a string');
  if (!(appearsWithinMs >= 0))
    throw invalidArgument('appearsWithinMs', appearsWithinMs, 'is a number of milliseconds from 0');
  checkTypicalHold(typicalHoldMs);
  const places$ = positionsIn(locks.watch(name), (entry) => entry.id === id, { clock, typicalHoldMs });
  const giveUp$ = after(clock, appearsWithinMs).pipe(map(() => GONE));
  const position$ = defer(() => {
    let wasThere = false;
    return places$.pipe(
      tap((place) => (wasThere ||= place !== undefined)),
      map((place) => place ?? (wasThere ? GONE : ABSENT)),
      distinctUntilChanged(),
      switchMap((place) => (place === ABSENT ? concat(of(place), giveUp$) : of(place))),
      takeWhile((place) => place !== GONE),
    );
  }).pipe(filter((place): place is QueuePosition => typeof place === 'object'));
  return inCallerContext(position$);
}

const OPTIONS: KnownOptions<WatchPositionOptions> = {
  id: 'string',
  appearsWithinMs: 'number',
  typicalHoldMs: 'number',
  clock: 'object',
};

const ABSENT = 'absent';
const GONE = 'gone';

/**
 * Emits the position of the entry for which `isOwn` returns true, now and when the queue changes. Emits `undefined` while the queue does not contain
 * it. Emits nothing until the queue was read.
 */
export function positionsIn(
  queue$: Observable<QueueState>,
  isOwn: (entry: QueueEntry) => boolean,
  { clock, typicalHoldMs }: PositionTools,
): Observable<QueuePosition | undefined> {
  return defer(() => {
    const seen = new SeenHolds(clock);
    return queue$.pipe(
      // Measures hold times from every snapshot, also from those that are not emitted.
      tap((queue) => seen.readState(queue)),
      filter(({ status }) => status !== 'connecting'),
      paced(POSITION_INTERVAL_MS, clock),
      map((queue) => {
        const at = queue.entries.findIndex(isOwn);
        return at < 0 ? undefined : positionAt(at, queue, { ...seen.times, assumedMs: typicalHoldMs });
      }),
    );
  });
}

function positionAt(
  at: number,
  { entries, status }: QueueState,
  times: Parameters<typeof expectedWaitAt>[2],
): QueuePosition {
  const { waitMs, basis } = expectedWaitAt(entries, at, times);
  const position = [...positionsOf(entries).values()][at] ?? 0;
  return { position, expectedWaitMs: waitMs, basis, stale: status === 'stale' };
}
