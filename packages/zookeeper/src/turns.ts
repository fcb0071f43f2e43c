import { turnOf, turnsByWatching, type Ahead, type Placement } from '@queuelock/core/backend';
import type { ZkDriver } from './driver.ts';
import { lookAhead, type Seat } from './enqueue.ts';
import { orderOf, type Contender } from './names.ts';
import { merge, switchMap, timer } from './rx.ts';
import type { Watches } from './watches.ts';

// A lock that is held for less than this costs no watch on its own entry.
const OWN_WATCH_AFTER_MS = 250;

/** A seat as the core sees it. */
export function placementOf(
  zk: ZkDriver,
  watches: Watches,
  { seat, limit }: { seat: Seat; limit: number },
): Placement {
  const first = aheadOf(seat.ahead);
  const turn = turnOf(first, { limit });
  const directory = seat.path.slice(0, seat.path.lastIndexOf('/'));
  const gone$ = watches.gone(seat.path);
  const late$ = timer(turn.admitted ? OWN_WATCH_AFTER_MS : 0).pipe(switchMap(() => gone$));
  const turns$ = turnsByWatching<Contender>(
    {
      ahead: async () => aheadOf(await lookAhead(zk, seat)),
      gone: ({ name }) => watches.gone(`${directory}/${name}`),
      ownGone$: merge(late$, zk.ended$),
    },
    { limit },
    first,
  );
  const order = orderOf(seat.own.sequence);
  return { order, token: seat.czxid, key: seat.path, turn, turns$ } satisfies Placement;
}

function aheadOf(refs: readonly Contender[]): Ahead<Contender> {
  return { refs, total: refs.length };
}
