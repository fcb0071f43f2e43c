// The folder turn answers: which entry is admitted, and for which entry does a waiter wait?
// turns.ts (this file) follows the nearest conflicting entry ahead; gate.ts admits one client at a time to operations of several requests.

import {
  isQueueLockError,
  turnOf,
  followTurns,
  type Departure,
  type Placement,
  type AdmissionRule,
  type Turn,
  type TurnListener,
} from '@queuelock/core/backend';
import { readEntriesAhead, type NodePosition } from '../entry/enqueue.ts';
import { orderOf, otherLimitAhead, type Contender } from '../queue/entries.ts';
import type { OwnEntry } from '../entry/entry.ts';
import type { SessionContext } from '../server/session-context.ts';
import { NEVER, Observable, catchError, defer, of, switchMap } from '../base/rx.ts';
import type { EndListener } from '../base/ending.ts';
import type { Removal, Watches } from '../server/watches.ts';

/** An entry with its position and its rule of admission. */
export interface EntryPosition {
  readonly entry: OwnEntry;
  readonly position: NodePosition;
  readonly rule: AdmissionRule;
}

/** Converts a position to the core's `Placement`. */
export function placementOf(context: SessionContext, entryPosition: EntryPosition): Placement {
  const { entry, position, rule } = entryPosition;
  const turn = turnOf(position.ahead, rule);
  recordTurn(entryPosition, turn);
  const { scheme } = entry.location;
  const otherLimit = otherLimitAhead(position.ahead.refs, { own: position.own, limit: rule.limit, scheme });
  const turns$ = recordedTurns(context, entryPosition, turn);
  const placement = {
    order: orderOf(position.own.sequence),
    token: position.token,
    key: position.path,
    turn,
    turns$,
  };
  return otherLimit === undefined ? placement : { ...placement, otherLimit };
}

/** Records the admission, unless other entries may hold as well: only an exclusive entry with a limit of 1 is alone when it is admitted. */
function recordTurn({ entry, position, rule }: EntryPosition, { admitted }: Turn): void {
  if (admitted && rule.limit === 1 && !position.own.shared) entry.markOwned(position.path);
}

/**
 * Emits the turns and records each. The stream ends with the session, without an error if the session was abandoned. A hand-written stream,
 * because every hold subscribes to one. An entry that was admitted at once has only one turn, which the caller has recorded already.
 */
function recordedTurns(context: SessionContext, entryPosition: EntryPosition, first: Turn): Observable<Turn> {
  const { ending } = context;
  const { lost } = entryPosition.entry;
  return new Observable((subscriber) => {
    const error = (cause: unknown): void => {
      if (!isAbandoned(cause)) subscriber.error(cause);
    };
    const listener: EndListener = { ended: error };
    const next = (turn: Turn): void => {
      recordTurn(entryPosition, turn);
      subscriber.next(turn);
    };
    ending.add(listener);
    lost.add(listener);
    const stop = subscriber.closed
      ? undefined
      : follow(context, entryPosition, first.admitted ? subscriber : { next, error });
    return () => {
      ending.delete(listener);
      lost.delete(listener);
      stop?.();
    };
  });
}

function isAbandoned(cause: unknown): boolean {
  return isQueueLockError(cause, 'CLOSED');
}

function follow(
  context: SessionContext,
  { entry, position, rule }: EntryPosition,
  listener: TurnListener,
): () => void {
  const { watches, unwatched } = context;
  const pathNow = (): string => entry.path ?? position.path;
  return followTurns<Contender>(
    {
      ahead: () => readEntriesAhead(context, entry.location, pathNow()),
      removal: (conflicting) => departureOf(conflicting, { entry, position }, context),
      // A getter, since only a long hold watches its own entry.
      get ownRemoval$() {
        return ownRemoval(pathNow, watches);
      },
      unwatched,
    },
    { rule, first: position.ahead },
    listener,
  );
}

/**
 * Emits once when the conflicting entry was removed, or the own entry was converted to a reader, which may conflict with no entry. Emits
 * `undefined` if only another read can show what happened. That is so if the entry may have been converted to a reader at its position. It
 * is also so if its removal was not observed, since other events may have been missed too. The third case is an entry of the own session
 * that this client did not remove: it was removed with the session, and so was the own entry.
 */
function departureOf(
  conflicting: Contender,
  { entry: { location, shared$ }, position }: Pick<EntryPosition, 'entry' | 'position'>,
  { watches, followed }: SessionContext,
): Observable<Departure | undefined> {
  return new Observable((subscriber) => {
    const path = `${location.directory}/${conflicting.name}`;
    const local = followed.follow(path);
    const mayConvert = !conflicting.shared && !position.own.shared && location.scheme.shared !== undefined;
    const hasLeft = ({ observed, own, unwritten }: Removal): boolean => {
      if (own && !local.leaving) return false;
      return mayConvert ? unwritten && !location.scheme.convertsWithoutWrite : observed;
    };
    subscriber.add(() => {
      local.unfollow();
    });
    const emit = (departure: Departure | undefined): void => {
      subscriber.next(departure);
      subscriber.complete();
    };
    const next = (removal: Removal): void => {
      emit(local.owned ? { owned: true } : hasLeft(removal) ? {} : undefined);
    };
    const error = (cause: unknown): void => {
      subscriber.error(cause);
    };
    subscriber.add(shared$.subscribe({ next: () => emit(undefined), error }));
    subscriber.add(watches.removalOf(path).subscribe({ next, error }));
  });
}

/** Emits when the entry was removed, but not when its node was only replaced by that of the reader that it was converted to. */
function ownRemoval(pathNow: () => string, watches: Watches): Observable<unknown> {
  return defer(() => {
    const path = pathNow();
    return watches.removalOf(path).pipe(
      switchMap((removal) => (pathNow() === path ? of(removal) : ownRemoval(pathNow, watches))),
      catchError((cause: unknown) => {
        if (isAbandoned(cause)) return NEVER;
        throw cause;
      }),
    );
  });
}
