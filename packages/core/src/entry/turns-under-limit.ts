import { beginningWith } from '../base/beginning-with.ts';
import type { Entry } from './entry.ts';
import type { Limit } from './limit.ts';
import { QueueLockError } from '../api/errors.ts';
import type { Moment } from '../base/moment.ts';
import { distinctUntilChanged, from, of, switchMap, takeUntil, type Observable } from '../base/rx.ts';
import type { Placement, Turn } from '../api/spi.ts';
import { askUntilDefinite } from '../turn/watch-kit.ts';

/** Emits the turns of an entry whose limit may change. The limit applies until the hold begins. */
export function turnsUnder(limit$: Observable<number>, entry: Entry, granted: Moment): Observable<Turn> {
  const { spec, placement, live } = entry;
  let underWay: Promise<unknown> = Promise.resolve();
  // Sends a request only after the previous one has settled, so that the newest limit reaches the store last.
  const request = async (now: number): Promise<Placement> => {
    const requested = live.session.enqueue({ ...spec, limit: now });
    underWay = requested.catch(() => undefined);
    return samePlace(await requested, entry);
  };
  const place$ = limit$.pipe(
    beginningWith(spec.limit),
    distinctUntilChanged(),
    switchMap((now, index) =>
      index === 0
        ? of(placement)
        : from(underWay).pipe(switchMap(() => askUntilDefinite(() => request(now)))),
    ),
    takeUntil(granted.come$),
  );
  return place$.pipe(switchMap(turnsFrom));
}

/**
 * Throws if the entry has another order number than before. Then the entry was removed, and the repeated request has created another one at the end
 * of the queue with another token.
 */
function samePlace(now: Placement, { spec, placement }: Entry): Placement {
  if (now.order === placement.order) return now;
  throw new QueueLockError('ENTRY_LOST', `the entry ${spec.id} was removed while its limit changed`);
}

/**
 * Rejects a fixed limit that differs from the limit of an entry ahead. Together the two limits would admit more entries than either allows, so the
 * entry behind must leave. A limit that may change is not compared: until all clients have received a new number, entries ahead and holders still
 * have the old one. Such a claim is admitted by its own limit alone.
 */
export function throwIfMismatched({ fixed }: Limit, { spec, placement }: Entry): void {
  const { otherLimit } = placement;
  if (fixed === undefined || otherLimit === undefined) return;
  throw new QueueLockError(
    'LIMIT_MISMATCH',
    `${JSON.stringify(spec.queue)} is in use with a limit of ${String(otherLimit)}, here it is ${String(fixed)}: use the same number in all clients, or another name`,
  );
}

function turnsFrom({ turn, turns$ }: Placement): Observable<Turn> {
  return turns$.pipe(beginningWith(turn));
}
