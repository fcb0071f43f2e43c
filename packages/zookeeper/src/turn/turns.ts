// Chapter turn: which entry is admitted, and for which entry does a waiter wait?
// turns (this file) follows the nearest conflicting entry ahead; gate admits one client at a time to operations of several requests.

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

/** An entry with its position and its rule of admission. */
export interface Standing {
  readonly entry: OwnEntry;
  readonly position: NodePosition;
  readonly rule: AdmissionRule;
}

/** Converts a position to the core's `Placement`. */
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

/** Records the admission. Only an exclusive entry with a limit of 1 is alone when it is admitted. */
function noteTurn({ entry, position, rule }: Standing, { admitted }: Turn): void {
  if (admitted && rule.limit === 1 && !position.own.shared) entry.noteOwned(position.path);
}

/** Records each turn. The stream ends with the session, without an error if the session was abandoned. */
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
 * Emits once when the conflicting entry was removed, or the own entry was converted to a reader, which may conflict with no entry. Emits
 * `undefined` if only another read can show what happened. That is so if the entry may have been converted to a reader at its position, or
 * if its removal was not observed, so that other events may have been missed too. It is also so for an entry of the own session that this
 * client did not remove: it was removed with the session, and so was the own entry.
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

/** Emits when the entry was removed, but not when its node was only replaced by that of the reader that it was converted to. */
function ownGone(pathNow: () => string, watches: Watches): Observable<unknown> {
  return defer(() => {
    const path = pathNow();
    return watches
      .gone(path)
      .pipe(switchMap((gone) => (pathNow() === path ? of(gone) : ownGone(pathNow, watches))));
  });
}
