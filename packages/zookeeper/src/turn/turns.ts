// Chapter turn: whose turn is it, and why am I waiting for that one?
// Here: follow the nearest ahead. gate: the same for steps that take more than one request.

import {
  isQueueLockError,
  turnOf,
  turnsByWatching,
  type Departure,
  type Placement,
  type AdmissionRule,
  type Turn,
} from '@queuelock/core/backend';
import { lookAhead, type NodePosition } from '../entry/enqueue.ts';
import { orderOf, otherLimitAhead, type Contender } from '../queue/entries.ts';
import type { OwnEntry } from '../entry/entry.ts';
import type { SessionContext } from '../server/session-context.ts';
import { Observable, defer, of, switchMap } from '../base/rx.ts';
import type { Going, Watches } from '../server/watches.ts';

/** An entry's place and what it is admitted by. */
export interface Standing {
  readonly entry: OwnEntry;
  readonly position: NodePosition;
  readonly rule: AdmissionRule;
}

/** A position as the core sees it. */
export function placementOf(context: SessionContext, standing: Standing): Placement {
  const { entry, position, rule } = standing;
  const turn = turnOf(position.ahead, rule);
  noteTurn(standing, turn);
  const { scheme } = entry.place;
  const otherLimit = otherLimitAhead(position.ahead.refs, { own: position.own, limit: rule.limit, scheme });
  const turns$ = heard(follow(context, standing), standing, context);
  const place = {
    order: orderOf(position.own.sequence),
    token: position.token,
    key: position.path,
    turn,
    turns$,
  };
  return otherLimit === undefined ? place : { ...place, otherLimit };
}

/** Only an exclusive entry with a limit of 1 is alone when its turn comes. */
function noteTurn({ entry, position, rule }: Standing, { admitted }: Turn): void {
  if (admitted && rule.limit === 1 && !position.own.shared) entry.noteOwned(position.path);
}

/** The same turns, each noted; they end with the session, without a word when that was abandoned. */
function heard(turns$: Observable<Turn>, standing: Standing, { zk }: SessionContext): Observable<Turn> {
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

function follow(context: SessionContext, { entry, position, rule }: Standing): Observable<Turn> {
  const { watches } = context;
  const pathNow = (): string => entry.path ?? position.path;
  return turnsByWatching<Contender>(
    {
      ahead: () => lookAhead(context, entry.place, pathNow()),
      removal: (rival) => departureOf(rival, { entry, position }, context),
      ownRemoval$: ownGone(pathNow, watches),
    },
    rule,
    position.ahead,
  );
}

/**
 * Emits once when the rival is gone, or the own entry has turned into a reader, which may be in the way of nobody. `undefined` where only another look tells what became of it: it may have turned into a reader that
 * stands at its place, or its going was not seen, and much else may have happened unseen; and one of the own session that this did not
 * take out has gone with the session, as the own entry has.
 */
function departureOf(
  rival: Contender,
  { entry: { place, shared$ }, position }: Pick<Standing, 'entry' | 'position'>,
  { watches, followed }: SessionContext,
): Observable<Departure | undefined> {
  return new Observable((subscriber) => {
    const path = `${place.directory}/${rival.name}`;
    const known = followed.follow(path);
    const mayTurn = !rival.shared && !position.own.shared && place.scheme.shared !== undefined;
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
