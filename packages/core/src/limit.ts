import type { Entry } from './entry.ts';
import { QueueLockError } from './errors.ts';
import {
  distinctUntilChanged,
  isObservable,
  startWith,
  switchMap,
  takeUntil,
  type Observable,
} from './rx.ts';
import type { Placement, Session, Turn } from './spi.ts';
import { askUntilDefinite } from './watch-kit.ts';

/** The turns of an entry, as the limit is now; the limit counts until the hold begins. */
export function turnsUnder(
  limit: number | Observable<number>,
  { spec, placement }: Entry,
  { session, granted$ }: { readonly session: Session; readonly granted$: Observable<unknown> },
): Observable<Turn> {
  if (!isObservable(limit)) return turnsFrom(placement);
  return limit.pipe(
    distinctUntilChanged(),
    takeUntil(granted$),
    switchMap((now, index) =>
      index === 0 && now === spec.limit
        ? turnsFrom(placement)
        : askUntilDefinite(() => session.enqueue({ ...spec, limit: now })).pipe(switchMap(turnsFrom)),
    ),
  );
}

/** Two limits for one name would let in more than either says; of those who meet, the one behind gives way. */
export function throwIfMismatched(limit: number | Observable<number>, { spec, placement }: Entry): void {
  const { otherLimit } = placement;
  // A limit that changes is another one for those who came before.
  if (isObservable(limit) || otherLimit === undefined) return;
  throw new QueueLockError(
    'LIMIT_MISMATCH',
    `${JSON.stringify(spec.queue)} is in use with a limit of ${String(otherLimit)}, here it is ${String(limit)}: agree on one, or use another name`,
  );
}

function turnsFrom({ turn, turns$ }: Placement): Observable<Turn> {
  return turns$.pipe(startWith(turn));
}
