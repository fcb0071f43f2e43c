// Folder "turn": decides which entry is admitted, and for which entry a waiter waits.
// turns.ts (this file) follows the nearest conflicting entry ahead. gate.ts admits one client at a time to operations of several requests.

import {
  isQueueLockError,
  turnOf,
  followTurns,
  type Departure,
  type EntriesAhead,
  type Placement,
  type QueueView,
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

/** An entry, its position, and what decides its admission. */
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

/** Records that an entry was admitted as the only holder. Shared entries, and entries with a limit above 1, may be admitted beside others. */
function recordTurn({ entry, position, rule }: EntryPosition, { admitted }: Turn): void {
  if (admitted && rule.limit === 1 && !position.own.shared) entry.markOwned(position.path);
}

/**
 * Emits whether the entry is admitted, and records that in the entry. The stream ends with the session: with an error, unless the session
 * was abandoned.
 * It does not use RxJS operators, since each hold subscribes to such a stream. The first state of an entry that was admitted at once is not
 * emitted, since the caller has recorded it already.
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

function follow(context: SessionContext, waiter: EntryPosition, listener: TurnListener): () => void {
  const { rule, position } = waiter;
  return followTurns<Contender>(new EntryView(context, waiter), { rule, first: position.ahead }, listener);
}

/**
 * What an entry needs to know about its queue: the entries ahead, their removals, and its own removal. This
 * is a class, because an object literal with a getter takes 500 bytes more for each of thousands of waiters.
 */
class EntryView implements QueueView<Contender> {
  readonly #context: SessionContext;
  readonly #waiter: EntryPosition;

  constructor(context: SessionContext, waiter: EntryPosition) {
    this.#context = context;
    this.#waiter = waiter;
  }

  ahead(): Promise<EntriesAhead<Contender>> {
    return readEntriesAhead(this.#context, this.#waiter.entry.location, pathOf(this.#waiter));
  }

  removal(conflicting: Contender): Observable<Departure | undefined> {
    return departureOf(conflicting, this.#waiter, this.#context);
  }

  /**
   * Emits when the own entry is removed. The stream is created only on demand, because only a waiter, or a
   * hold of more than 250 ms, watches its own entry.
   */
  get ownRemoval$(): Observable<unknown> {
    return ownRemoval(() => pathOf(this.#waiter), this.#context.watches);
  }

  get unwatched(): QueueView<Contender>['unwatched'] {
    return this.#context.unwatched;
  }
}

/** Returns the present path of an entry, which changes when the entry is converted to a reader. */
function pathOf({ entry, position }: EntryPosition): string {
  return entry.path ?? position.path;
}

/**
 * Emits once when the conflicting entry `conflicting` no longer blocks the own entry: it was removed, or the own entry was converted to a
 * reader. Emits `undefined` if the queue must be read again to know what happened:
 * - The conflicting entry may have been converted to a reader at the same position.
 * - No watch has observed its removal, so other events may have been missed too.
 * - It belonged to the session of the own entry, and this client has not removed it. So both entries were removed with the session.
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

/** Emits when the entry was removed. A conversion to a reader, which replaces the node, is not a removal. */
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
