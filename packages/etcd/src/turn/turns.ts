// Folder "turn": decides which entry is admitted, and for which entry a waiter waits.
// turns.ts (this file) follows the predecessor. watch-removal.ts notices its removal. owning.ts lets the next waiter skip the read of the
// queue. single-hold.ts creates the single keys of admitted entries.

import {
  QueueLockError,
  detailOf,
  followTurns,
  isQueueLockError,
  turnOf,
  turnsByWatching,
  type Departure,
  type EntriesAhead,
  type QueueView,
  type Turn,
  type TurnListener,
} from '@queuelock/core/backend';
import type { IRangeRequest } from '../protocol/messages.ts';
import { aheadIn, suffices, windowFor, type QueueRows, type ConflictingEntry } from '../queue/ahead.ts';

import type { Entry } from '../entry/entry.ts';
import type { EntryEndListener } from '../entry/entry-end.ts';
import { known } from '../entry/entered.ts';
import { watchRemoval, watchConflictEnd } from './watch-removal.ts';

import { rangeUnder } from '../queue/keys.ts';
import { recordTurn, announceOwner } from './owning.ts';
import { Observable, type Subscriber } from '../base/rx.ts';
import { latestFirst, readKeys } from '../queue/txn.ts';
import type { Following } from './following.ts';

/**
 * With at most this number of entries ahead, the waiter may be admitted before a late watch has caught up, which takes up to 100 ms.
 * So the waiter also reads the entry that it watches.
 */
const SOON = 3;

/**
 * Reads the conflicting entries ahead. If shared entries or keys of nested names fill the rows of the first read, a second one reads
 * all rows.
 */
export async function readAhead(
  following: Following,
  count: number,
): Promise<EntriesAhead<ConflictingEntry>> {
  const { entry, order } = following;
  const read = async (limit: number): Promise<EntriesAhead<ConflictingEntry>> => {
    const request = { max_create_revision: order.toString(), ...latestFirst(entry.range, limit) };
    return aheadIn(await readRows(following, request), entry);
  };
  const nearest = await read(windowFor(count));
  return suffices(nearest, count) ? nearest : read(0);
}

/** Reads rows of the queue. A shared entry also needs the marks at the same revision; see `marks.ts`. */
async function readRows({ connection, entry }: Following, request: IRangeRequest): Promise<QueueRows> {
  const what = 'reading a queue';
  if (!entry.shared)
    return { latest: await connection.ask(what, (etcd, options) => etcd.range(request, options)) };
  const success = [{ request_range: request }, readKeys(rangeUnder(entry.markDirectory))];
  const { responses } = await connection.ask(what, (etcd, options) => etcd.txn({ success }, options));
  const [latest, marks] = responses.map(({ response_range }) => response_range);
  return { latest: known(latest), marks: known(marks) };
}

/**
 * A function that calls the listener with each turn of an entry. It returns a function that stops these calls
 * and may be called more than once.
 */
export type FollowTurns = (listener: TurnListener) => () => void;

/** Returns a function that passes the entry's turns in its queue to a listener. */
export function follow(following: Following, first: EntriesAhead<ConflictingEntry>): FollowTurns {
  const { entry, rule } = following;
  const turn = turnOf(first, rule);
  recordTurn(following, turn);
  const view = new EntryView(following, (first.total ?? Infinity) <= SOON);
  // An entry that was admitted at once has no turn but `turn`, which is already recorded. No waiter needs an announcement in the label of
  // such an entry.
  if (turn.admitted && !entry.waited) return (listener) => followTurns(view, { rule, first }, listener);
  return following$(announceOwner(turnsByWatching(view, rule, first), following));
}

/**
 * The queue as one of its entries sees it. This is a class, because an object literal with a getter takes 500
 * bytes more for each of thousands of waiters.
 */
class EntryView implements QueueView<ConflictingEntry> {
  readonly #following: Following;
  readonly #isSoon: boolean;

  constructor(following: Following, isSoon: boolean) {
    this.#following = following;
    this.#isSoon = isSoon;
  }

  ahead(count: number): Promise<EntriesAhead<ConflictingEntry>> {
    return readAhead(this.#following, count).catch(tolerateRefusal);
  }

  removal(ref: ConflictingEntry): Observable<Departure | undefined> {
    return watchConflictEnd(ref, this.#following, this.#isSoon);
  }

  /** Emits when the entry itself is removed. The getter creates the watch, since only a wait or a long hold needs it. */
  get ownRemoval$(): Observable<unknown> {
    const { entry, order } = this.#following;
    return watchRemoval({ key: entry.key, createRevision: order.toString() }, this.#following);
  }

  get unwatched(): QueueView<ConflictingEntry>['unwatched'] {
    return this.#following.watches.unwatched;
  }
}

/** Returns a function that subscribes a listener to a stream of turns. */
export function following$(turns$: Observable<Turn>): FollowTurns {
  return (listener) => {
    const turns = turns$.subscribe(listener);
    return () => {
      turns.unsubscribe();
    };
  };
}

/**
 * Returns the turns until the session withdraws the entry. A loss is reported by its watch or by a heartbeat, whichever notices it
 * first.
 */
export function untilWithdrawn(turns: FollowTurns, entry: Entry): Observable<Turn> {
  return new Observable((subscriber) => new TurnsOfEntry(entry, subscriber).follow(turns));
}

/** The turns of one entry, until its end. */
class TurnsOfEntry implements TurnListener, EntryEndListener {
  readonly #entry: Entry;
  readonly #subscriber: Subscriber<Turn>;
  #stop: (() => void) | undefined;
  #isOver = false;

  constructor(entry: Entry, subscriber: Subscriber<Turn>) {
    this.#entry = entry;
    this.#subscriber = subscriber;
  }

  /** Emits the entry's turns to the subscriber. Returns a function that ends this. */
  follow(turns: FollowTurns): () => void {
    this.#entry.end.add(this);
    if (!this.#isOver && !this.#subscriber.closed) this.#stop = turns(this);
    // The entry may have ended during the call above, before `#stop` was set.
    if (this.#isOver) this.#stop?.();
    return () => {
      this.#entry.end.delete(this);
      this.withdrawn();
    };
  }

  next(turn: Turn): void {
    if (!this.#isOver) this.#subscriber.next(turn);
  }

  error(cause: unknown): void {
    if (isQueueLockError(cause, 'ENTRY_LOST') && !this.#entry.withdrawn) this.#entry.lose(cause);
    this.#subscriber.error(cause);
  }

  /** Ends the watches. They must end before the session removes the entry, since that removal is no loss. */
  withdrawn(): void {
    this.#isOver = true;
    this.#stop?.();
  }

  lost(why: unknown): void {
    this.error(why);
  }
}

/**
 * Converts a missing permission to `UNAVAILABLE`, so that the waiter continues for a while. If the permission stays missing, the
 * session ends.
 */
function tolerateRefusal(error: unknown): never {
  if (!isQueueLockError(error, 'ACCESS_DENIED')) throw error;
  throw new QueueLockError('UNAVAILABLE', detailOf(error), { cause: error });
}
