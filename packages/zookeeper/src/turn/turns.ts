// Folder "turn": decides which entry is admitted, and for which entry a waiter waits.
// turns.ts (this file) follows the nearest conflicting entry ahead. conflict-end.ts notices its removal, and own-removal.ts that of
// the entry itself. gate.ts admits one client at a time to operations of several requests.

import {
  remembered,
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
import { ConflictEnd, type Waiter } from './conflict-end.ts';
import type { OwnEntry } from '../entry/entry.ts';
import type { SessionContext } from '../server/session-context.ts';
import { Observable, type Subscribable, type Subscriber, type Unsubscribable } from '../base/rx.ts';
import type { EndListener } from '../base/ending.ts';
import { OwnRemoval, isAbandoned, pathOf } from './own-removal.ts';

/** An entry of this session, its position in the queue, and its admission rule. */
export interface EntryPosition {
  readonly entry: OwnEntry;
  readonly position: NodePosition;
  readonly rule: AdmissionRule;
}

/** Converts a position to the core's `Placement`. */
export function placementOf(context: SessionContext, entryPosition: EntryPosition): Placement {
  const { entry, position, rule } = entryPosition;
  const turn = turnOf(position.ahead, rule);
  recordTurn({ entry, rule, path: position.path, shared: position.own.shared }, turn);
  const { scheme } = entry.location;
  const otherLimit = otherLimitAhead(position.ahead.refs, { own: position.own, limit: rule.limit, scheme });
  const { path, own } = position;
  const ahead = remembered(position.ahead, rule);
  const turns$ = recordedTurns({ context, entry, path, shared: own.shared, rule, ahead }, turn);
  const placement = {
    order: orderOf(position.own.sequence),
    token: position.token,
    key: position.path,
    turn,
    turns$,
  };
  return otherLimit === undefined ? placement : { ...placement, otherLimit };
}

/** Records that an entry was admitted alone. Does nothing for shared entries and limits above 1, since such entries may be admitted beside others. */
function recordTurn(
  { entry, path, shared, rule }: Pick<Waiter, 'entry' | 'path' | 'shared' | 'rule'>,
  { admitted }: Turn,
): void {
  if (admitted && rule.limit === 1 && !shared) entry.markOwned(path);
}

/**
 * Emits the turns of an entry, and records when it is admitted alone. Errors when the session ends, except when the client has abandoned it: then
 * nothing more is emitted.
 */
function recordedTurns(waiter: Waiter, first: Turn): Observable<Turn> {
  return new Observable((subscriber) => {
    const turns = new RecordedTurns(waiter, first, subscriber);
    turns.begin();
    return turns;
  });
}

/**
 * Passes the turns of one entry to a subscriber. It has no RxJS operators and no closures, since each wait and each hold creates one. If the entry
 * was admitted at once, the caller has recorded its first turn already.
 */
class RecordedTurns implements TurnListener, EndListener, Unsubscribable {
  readonly #waiter: Waiter;
  readonly #subscriber: Subscriber<Turn>;
  #isRecorded: boolean;
  #turns: Unsubscribable | undefined;

  constructor(waiter: Waiter, first: Turn, subscriber: Subscriber<Turn>) {
    this.#waiter = waiter;
    this.#subscriber = subscriber;
    this.#isRecorded = first.admitted;
  }

  begin(): void {
    const { context, entry, rule, ahead } = this.#waiter;
    context.ending.add(this);
    entry.lost.add(this);
    if (this.#subscriber.closed) return;
    this.#turns = followTurns<Contender>(new EntryView(this.#waiter), { rule, first: ahead }, this);
  }

  unsubscribe(): void {
    this.#waiter.context.ending.delete(this);
    this.#waiter.entry.lost.delete(this);
    this.#turns?.unsubscribe();
  }

  next(turn: Turn): void {
    if (!this.#isRecorded) recordTurn(this.#waiter, turn);
    this.#subscriber.next(turn);
  }

  error(cause: unknown): void {
    if (!isAbandoned(cause)) this.#subscriber.error(cause);
  }

  ended(error: unknown): void {
    this.error(error);
  }
}

/**
 * What the turns of one entry depend on: the entries ahead, their removals, and its own removal. This is a class, because an object literal with a
 * getter takes 500 bytes more for each of thousands of waiters.
 */
class EntryView implements QueueView<Contender> {
  readonly #waiter: Waiter;

  constructor(waiter: Waiter) {
    this.#waiter = waiter;
  }

  ahead(): Promise<EntriesAhead<Contender>> {
    const { context, entry } = this.#waiter;
    return readEntriesAhead(context, entry.location, pathOf(this.#waiter));
  }

  removal(conflicting: Contender): Subscribable<Departure | undefined> {
    return new ConflictEnd(conflicting, this.#waiter);
  }

  /** Emits when the entry itself is removed. */
  ownRemoval(): Subscribable<unknown> {
    return new OwnRemoval(this.#waiter);
  }

  get unwatched(): QueueView<Contender>['unwatched'] {
    return this.#waiter.context.unwatched;
  }
}
