import { beginningWith } from '../base/beginning-with.ts';
import type { Entry } from './entry.ts';
import { QueueLockError } from '../api/errors.ts';
import type { Moment } from '../base/moment.ts';
import type { ClaimOptions } from '../api/options.ts';
import {
  distinctUntilChanged,
  from,
  isObservable,
  map,
  of,
  switchMap,
  takeUntil,
  type Observable,
} from '../base/rx.ts';
import type { Placement, Session, Turn } from '../api/spi.ts';
import { askUntilDefinite } from '../turn/watch-kit.ts';

/** How many permits there are: for ever, or as a stream tells. */
export type Limit =
  | { readonly fixed: number }
  | { readonly fixed: undefined; readonly now$: Observable<number> };

/** @param check answers the number, or throws */
export function limitOf({ limit: given$ = 1 }: ClaimOptions, check: (limit: number) => number): Limit {
  if (isObservable(given$)) return { fixed: undefined, now$: given$.pipe(map(check)) };
  return { fixed: check(given$) };
}

/** The turns of an entry, as the limit is now; the limit counts until the hold begins. */
export function turnsUnder(
  limit: Limit,
  entry: Entry,
  { session, granted }: { readonly session: Session; readonly granted: Moment },
): Observable<Turn> {
  const { spec, placement } = entry;
  if (limit.fixed !== undefined) return turnsFrom(placement);
  let underWay: Promise<unknown> = Promise.resolve();
  // One request after the other: the newest limit is the last to arrive.
  const ask = async (now: number): Promise<Placement> => {
    const asked = session.enqueue({ ...spec, limit: now });
    underWay = asked.catch(() => undefined);
    return samePlace(await asked, entry);
  };
  const place$ = limit.now$.pipe(
    beginningWith(spec.limit),
    distinctUntilChanged(),
    switchMap((now, index) =>
      index === 0 ? of(placement) : from(underWay).pipe(switchMap(() => askUntilDefinite(() => ask(now)))),
    ),
    takeUntil(granted.come$),
  );
  return place$.pipe(switchMap(turnsFrom));
}

/** Whoever was removed meanwhile has entered again by asking, behind others: that is another place, with another token. */
function samePlace(now: Placement, { spec, placement }: Entry): Placement {
  if (now.order === placement.order) return now;
  throw new QueueLockError('ENTRY_LOST', `the entry ${spec.id} was removed while its limit changed`);
}

/**
 * Two limits for one name would let in more than either says; of those who meet, the one behind gives way. A limit that changes cannot be
 * held against those ahead: while a new number travels, they store the old one, and whoever holds keeps it to the end. So nothing
 * refuses such a claim where it meets others, and it is let in by its own number alone.
 */
export function throwIfMismatched({ fixed }: Limit, { spec, placement }: Entry): void {
  const { otherLimit } = placement;
  if (fixed === undefined || otherLimit === undefined) return;
  throw new QueueLockError(
    'LIMIT_MISMATCH',
    `${JSON.stringify(spec.queue)} is in use with a limit of ${String(otherLimit)}, here it is ${String(fixed)}: agree on one, or use another name`,
  );
}

function turnsFrom({ turn, turns$ }: Placement): Observable<Turn> {
  return turns$.pipe(beginningWith(turn));
}
