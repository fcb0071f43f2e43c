// Chapter turn: whose turn is it, and why am I waiting for that one?
// Here: follow the nearest ahead. gate: the same for steps that take more than one request.

import {
  isQueueLockError,
  turnOf,
  turnsByWatching,
  type Departure,
  type Placement,
  type Rule,
  type Turn,
} from '@queuelock/core/backend';
import { lookAhead, type Seat } from '../entry/enqueue.ts';
import { orderOf, otherLimitAhead, type Contender } from '../queue/entries.ts';
import type { OwnEntry } from '../entry/entry.ts';
import type { Outlook } from '../server/outlook.ts';
import { Observable, defer, of, switchMap } from '../base/rx.ts';
import type { Going, Watches } from '../server/watches.ts';

/** An entry's place and what it is admitted by. */
export interface Standing {
  readonly entry: OwnEntry;
  readonly seat: Seat;
  readonly rule: Rule;
}

/** A seat as the core sees it. */
export function placementOf(outlook: Outlook, standing: Standing): Placement {
  const { entry, seat, rule } = standing;
  const turn = turnOf(seat.ahead, rule);
  noteTurn(standing, turn);
  const { scheme } = entry.place;
  const otherLimit = otherLimitAhead(seat.ahead.refs, { own: seat.own, limit: rule.limit, scheme });
  const turns$ = heard(follow(outlook, standing), standing, outlook);
  const place = { order: orderOf(seat.own.sequence), token: seat.token, key: seat.path, turn, turns$ };
  return otherLimit === undefined ? place : { ...place, otherLimit };
}

/** Only an exclusive entry with a limit of 1 is alone when its turn comes. */
function noteTurn({ entry, seat, rule }: Standing, { admitted }: Turn): void {
  if (admitted && rule.limit === 1 && !seat.own.shared) entry.noteOwned(seat.path);
}

/** The same turns, each noted; they end with the session, without a word when that was abandoned. */
function heard(turns$: Observable<Turn>, standing: Standing, { zk }: Outlook): Observable<Turn> {
  return new Observable((subscriber) => {
    const next = (turn: Turn): void => {
      noteTurn(standing, turn);
      subscriber.next(turn);
    };
    const error = (cause: unknown): void => {
      if (!isQueueLockError(cause, 'CLOSED')) subscriber.error(cause);
    };
    subscriber.add(zk.ended$.subscribe({ error }));
    subscriber.add(standing.entry.shared$.subscribe({ error }));
    if (!subscriber.closed) subscriber.add(turns$.subscribe({ next, error }));
  });
}

function follow(outlook: Outlook, { entry, seat, rule }: Standing): Observable<Turn> {
  const { watches } = outlook;
  const pathNow = (): string => entry.path ?? seat.path;
  return turnsByWatching<Contender>(
    {
      ahead: () => lookAhead(outlook, entry.place, pathNow()),
      gone: (rival) => departureOf(rival, { entry, seat }, outlook),
      ownGone$: ownGone(pathNow, watches),
    },
    rule,
    seat.ahead,
  );
}

/**
 * Emits once when the rival is gone, or the own entry has turned into a reader, which may be in the way of nobody. `undefined` where only another look tells what became of it: it may have turned into a reader that
 * stands at its place, or its going was not seen, and much else may have happened unseen; and one of the own session that this did not
 * take out has gone with the session, as the own entry has.
 */
function departureOf(
  rival: Contender,
  { entry: { place, shared$ }, seat }: Pick<Standing, 'entry' | 'seat'>,
  { watches, followed }: Outlook,
): Observable<Departure | undefined> {
  return new Observable((subscriber) => {
    const path = `${place.directory}/${rival.name}`;
    const known = followed.follow(path);
    const mayTurn = !rival.shared && !seat.own.shared && place.scheme.shared !== undefined;
    const hasLeft = ({ seen, own, unwritten }: Going): boolean => {
      if (own && !known.leaving) return false;
      return mayTurn ? unwritten && !place.scheme.turnsUnwritten : seen;
    };
    subscriber.add(() => {
      known.unfollow();
    });
    const tell = (departure: Departure | undefined): void => {
      subscriber.next(departure);
      subscriber.complete();
    };
    const next = (going: Going): void => {
      tell(known.owned ? { owned: true } : hasLeft(going) ? {} : undefined);
    };
    const error = (cause: unknown): void => {
      subscriber.error(cause);
    };
    subscriber.add(shared$.subscribe({ next: () => tell(undefined), error }));
    subscriber.add(watches.gone(path).subscribe({ next, error }));
  });
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
