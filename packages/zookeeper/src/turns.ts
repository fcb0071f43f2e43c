import {
  isQueueLockError,
  turnOf,
  turnsByWatching,
  type Ahead,
  type Placement,
  type Rule,
} from '@queuelock/core/backend';
import type { ZkDriver } from './driver.ts';
import { lookAhead, type Seat } from './enqueue.ts';
import { orderOf, otherLimitAhead, type Contender } from './entries.ts';
import type { OwnEntry } from './entry.ts';
import { NEVER, catchError, defer, merge, of, switchMap, throwError, timer, type Observable } from './rx.ts';
import type { Watches } from './watches.ts';

// A lock that is held for less than this costs no watch on its own entry.
const OWN_WATCH_AFTER_MS = 250;

/** An entry's place and what it is admitted by. */
export interface Standing {
  readonly entry: OwnEntry;
  readonly seat: Seat;
  readonly rule: Rule;
}

/** A seat as the core sees it. */
export function placementOf(zk: ZkDriver, watches: Watches, standing: Standing): Placement {
  const { entry, seat, rule } = standing;
  const first = aheadOf(seat.ahead);
  const turn = turnOf(first, rule);
  const { directory, scheme } = entry.place;
  const pathNow = (): string => entry.path ?? seat.path;
  const late$ = timer(turn.admitted ? OWN_WATCH_AFTER_MS : 0).pipe(
    switchMap(() => ownGone(pathNow, watches)),
  );
  const turns$ = turnsByWatching<Contender>(
    {
      ahead: async () => aheadOf(await lookAhead(zk, entry.place, pathNow())),
      // Who turns into a reader may be in the way of nobody any more.
      gone: ({ name }) => merge(watches.gone(`${directory}/${name}`), entry.shared$),
      ownGone$: merge(late$, zk.ended$),
    },
    rule,
    first,
  ).pipe(catchError(silentWhenAbandoned));
  const otherLimit = otherLimitAhead(seat.ahead, { own: seat.own, limit: rule.limit, scheme });
  const place = { order: orderOf(seat.own.sequence), token: seat.czxid, key: seat.path, turn, turns$ };
  return otherLimit === undefined ? place : { ...place, otherLimit };
}

/** Emits when the entry is gone, and not when its node only gave way to that of the reader that it turned into. */
function ownGone(pathNow: () => string, watches: Watches): Observable<unknown> {
  return defer(() => {
    const path = pathNow();
    return watches
      .gone(path)
      .pipe(switchMap((gone) => (pathNow() === path ? of(gone) : ownGone(pathNow, watches))));
  });
}

function silentWhenAbandoned(error: unknown): Observable<never> {
  return isQueueLockError(error, 'CLOSED') ? NEVER : throwError(() => error as Error);
}

function aheadOf(refs: readonly Contender[]): Ahead<Contender> {
  return { refs, total: refs.length };
}
