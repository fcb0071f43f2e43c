import { beginningWith } from '../base/beginning-with.ts';
import { subscribedByCaller } from '../base/caller-context.ts';
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
import type { Placement, Turn } from '../api/spi.ts';
import { askUntilDefinite } from '../turn/watch-kit.ts';

/** The number of permits: fixed, or from a stream. */
export type Limit =
  | { readonly fixed: number }
  | { readonly fixed: undefined; readonly now$: Observable<number> };

/**
 * @param check returns the validated number, or throws
 */
export function limitOf({ limit: given$ = 1 }: ClaimOptions, check: (limit: number) => number): Limit {
  if (typeof given$ !== 'number' && isObservable(given$))
    return { fixed: undefined, now$: subscribedByCaller(given$.pipe(map(check))) };
  return { fixed: check(given$) };
}

/** Emits the admission states of an entry under a limit that changes. The limit applies until the hold begins. */
export function turnsUnder(limit$: Observable<number>, entry: Entry, granted: Moment): Observable<Turn> {
  const { spec, placement, live } = entry;
  let underWay: Promise<unknown> = Promise.resolve();
  // Requests are sequential, so that the newest limit arrives last.
  const ask = async (now: number): Promise<Placement> => {
    const asked = live.session.enqueue({ ...spec, limit: now });
    underWay = asked.catch(() => undefined);
    return samePlace(await asked, entry);
  };
  const place$ = limit$.pipe(
    beginningWith(spec.limit),
    distinctUntilChanged(),
    switchMap((now, index) =>
      index === 0 ? of(placement) : from(underWay).pipe(switchMap(() => askUntilDefinite(() => ask(now)))),
    ),
    takeUntil(granted.come$),
  );
  return place$.pipe(switchMap(turnsFrom));
}

/** Rejects a changed position. An entry removed meanwhile was re-created by the repeated request, behind others and with another token. */
function samePlace(now: Placement, { spec, placement }: Entry): Placement {
  if (now.order === placement.order) return now;
  throw new QueueLockError('ENTRY_LOST', `the entry ${spec.id} was removed while its limit changed`);
}

/**
 * Rejects a limit that differs from an entry ahead: together, two limits would admit more than either allows, and the entry behind gives way. A
 * changing limit is not compared. While a new number propagates, entries ahead store the old one, and holders keep it. Such a claim is admitted by
 * its own limit alone.
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
