import type { LockClient } from '../api/api.ts';
import { checkTypicalHold } from '../checks/arguments.ts';
import { checkedOptions, type KnownOptions } from '../checks/checked-options.ts';
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

/** Places are told at most four times a second, and looked for no more often: of many changes only the last. */
export const POSITION_INTERVAL_MS = 250;

/** What places are judged with. */
export interface PositionTools {
  readonly clock: Clock;
  /** A hold of those who announce nothing, as long as none was seen. */
  readonly typicalHoldMs?: number | undefined;
}

/** Whose place is followed. */
export interface WatchPositionOptions {
  /** Of the entry: from an ownership, or as seen in a queue. */
  readonly id: string;
  /** How long an entry that is not in the queue may take to appear in it, in milliseconds. Default 2,000. */
  readonly appearsWithinMs?: number;
  /** A hold of those ahead who announce nothing, as long as none was seen, in milliseconds. Default: unknown. */
  readonly typicalHoldMs?: number;
  /** For tests: the time that counts. Default: the machine's. */
  readonly clock?: Clock;
}

/**
 * The place of one entry, whoever's it is: now, and when the queue changes, at most four times a second; completes when the entry is gone,
 * when it does not appear, or when the client is closed. Never errors. The place of a claim of one's own is part of `LockClient.claimWithPosition`.
 *
 * The expected wait is `expectedWait`: from what clients announce (`typicalHoldMs`), else from the holds that this stream has seen so far, less
 * what the present holders have used of it as far as this stream has seen.
 * @throws {QueueLockError} `INVALID_ARGUMENT` at the call.
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
  return defer(() => {
    let wasThere = false;
    return places$.pipe(
      tap((place) => (wasThere ||= place !== undefined)),
      map((place) => place ?? (wasThere ? GONE : ABSENT)),
      distinctUntilChanged(),
      switchMap((place) => (place === ABSENT ? concat(of(place), giveUp$) : of(place))),
      takeWhile((place) => place !== GONE),
    );
  }).pipe(filter((place): place is QueuePosition => typeof place === 'object'));
}

const OPTIONS: KnownOptions<WatchPositionOptions> = {
  id: 'string',
  appearsWithinMs: 'number',
  typicalHoldMs: 'number',
  clock: 'object',
};

const ABSENT = 'absent';
const GONE = 'gone';

/** The place of the entry that `isOwn` knows, now and when the queue changes; `undefined` while it is not there. Silent until the queue was seen. */
export function positionsIn(
  queue$: Observable<QueueState>,
  isOwn: (entry: QueueEntry) => boolean,
  { clock, typicalHoldMs }: PositionTools,
): Observable<QueuePosition | undefined> {
  return defer(() => {
    const seen = new SeenHolds(clock);
    return queue$.pipe(
      // How long holds take is learned from all pictures.
      tap((queue) => seen.look(queue)),
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
