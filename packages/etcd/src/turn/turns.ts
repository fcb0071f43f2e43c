// Folder "turn": decides which entry is admitted, and for which entry a waiter waits.
// turns.ts (this file) follows the predecessor. conflict-end.ts notices its removal. owning.ts lets the next waiter skip the read of the
// queue. single-hold.ts creates the single keys of admitted entries.

import {
  QueueLockError,
  detailOf,
  followTurns,
  isQueueLockError,
  type Departure,
  type EntriesAhead,
  type QueueView,
  type Turn,
  type TurnListener,
} from '@queuelock/core/backend';
import type { IRangeRequest } from '../protocol/messages.ts';
import {
  KeyOfText,
  aheadIn,
  keptAhead,
  suffices,
  windowFor,
  type QueueRows,
  type ConflictingEntry,
} from '../queue/ahead.ts';

import type { Entry } from '../entry/entry.ts';
import type { EntryEndListener } from '../entry/entry-end.ts';
import { known } from '../entry/entered.ts';
import { watchConflictEnd } from './conflict-end.ts';
import { watchRemoval } from './watch-removal.ts';

import { rangeUnder } from '../queue/keys.ts';
import { AnnouncedTurns } from './owning.ts';
import { Observable, type Subscribable, type Subscriber, type Unsubscribable } from '../base/rx.ts';
import { latestFirst, readKeys } from '../queue/txn.ts';
import type { Following } from './following.ts';

/**
 * Number of entries ahead up to which a waiter also reads the entry that it watches. It may be admitted before its new watch delivers events, which
 * takes up to 100 ms.
 */
const SOON = 3;

/**
 * Reads the conflicting entries ahead. The first read returns a limited number of rows. If shared entries or keys of nested names fill them, a second
 * read returns all rows.
 */
export async function readAhead(
  following: Following,
  count: number,
): Promise<EntriesAhead<ConflictingEntry>> {
  const { entry, order } = following;
  const read = async (limit: number): Promise<EntriesAhead<ConflictingEntry>> => {
    const request = { max_create_revision: order.toString(), ...latestFirst(rangeUnder(entry.under), limit) };
    return aheadIn(await readRows(following, request), entry);
  };
  const nearest = await read(windowFor(count));
  return suffices(nearest, count) ? nearest : read(0);
}

/** Reads entries of the queue. For a shared entry, it also reads the marks of the queue at the same revision; see `marks.ts`. */
async function readRows({ context, entry }: Following, request: IRangeRequest): Promise<QueueRows> {
  const { connection } = context;
  const what = 'reading a queue';
  if (!entry.shared)
    return { latest: await connection.ask(what, (etcd, options) => etcd.range(request, options)) };
  const success = [{ request_range: request }, readKeys(rangeUnder(entry.markDirectory))];
  const { responses } = await connection.ask(what, (etcd, options) => etcd.txn({ success }, options));
  const [latest, marks] = responses.map(({ response_range }) => response_range);
  return { latest: known(latest), marks: known(marks) };
}

/** A source of the turns of an entry, such as an Observable. */
interface TurnSource {
  subscribe(listener: TurnListener): Unsubscribable;
}

/** Returns the turns of an entry in its queue. Keeps only those entries ahead on which the next turn depends. */
export function follow(following: Following, first: EntriesAhead<ConflictingEntry>): TurnSource {
  return new EntryView(
    following,
    first.refs.length === 0 ? first : keptAhead(first, following.rule),
    (first.total ?? Infinity) <= SOON,
  );
}

/**
 * What one entry needs to know of its queue: the entries ahead, and its own removal. This is a class, because an object literal with a getter would
 * take 500 bytes more for each of thousands of waiters.
 */
class EntryView implements QueueView<ConflictingEntry>, TurnSource {
  readonly #following: Following;
  readonly #first: EntriesAhead<ConflictingEntry>;
  readonly #isSoon: boolean;

  constructor(following: Following, first: EntriesAhead<ConflictingEntry>, isSoon: boolean) {
    this.#following = following;
    this.#first = first;
    this.#isSoon = isSoon;
  }

  subscribe(listener: TurnListener): Unsubscribable {
    const { entry, rule } = this.#following;
    // An entry that was admitted at once needs no `AnnouncedTurns`: it has no further turn, its first turn is recorded, and no waiter needs its label.
    if (!entry.waited) return followTurns(this, { rule, first: this.#first }, listener);
    const turns = new AnnouncedTurns(this.#following, listener);
    turns.begin(this, this.#first);
    return turns;
  }

  async ahead(count: number): Promise<EntriesAhead<ConflictingEntry>> {
    const ahead = await readAhead(this.#following, count).catch(tolerateRefusal);
    return keptAhead(ahead, this.#following.rule);
  }

  removal(ref: ConflictingEntry): Subscribable<Departure | undefined> {
    return watchConflictEnd(ref, this.#following, this.#isSoon);
  }

  /** Emits when the entry whose turns are computed is removed. */
  ownRemoval(): Subscribable<unknown> {
    const { entry, order, context } = this.#following;
    return watchRemoval(new KeyOfText(entry.keyText, order.toString(), 'utf8'), context);
  }

  get unwatched(): QueueView<ConflictingEntry>['unwatched'] {
    return this.#following.context.watches.unwatched;
  }
}

/**
 * Returns the turns of an entry until the session withdraws the entry. A loss of the entry is reported by its watch or by a heartbeat, whichever
 * notices it first.
 */
export function untilWithdrawn(turns: TurnSource, entry: Entry): Observable<Turn> {
  return new Observable((subscriber) => {
    const own = new TurnsOfEntry(entry, subscriber);
    own.begin(turns);
    return own;
  });
}

/** Passes the turns of one entry to a subscriber, until the entry is withdrawn or lost. */
class TurnsOfEntry implements TurnListener, EntryEndListener, Unsubscribable {
  readonly #entry: Entry;
  readonly #subscriber: Subscriber<Turn>;
  #turns: Unsubscribable | undefined;
  #isOver = false;

  constructor(entry: Entry, subscriber: Subscriber<Turn>) {
    this.#entry = entry;
    this.#subscriber = subscriber;
  }

  /** Begins to emit the turns of the entry to the subscriber. */
  begin(turns: TurnSource): void {
    this.#entry.end.add(this);
    if (!this.#isOver && !this.#subscriber.closed) this.#turns = turns.subscribe(this);
    // If the entry ended while `subscribe` ran, `#turns` was not set yet, so the subscription is ended now.
    if (this.#isOver) this.#turns?.unsubscribe();
  }

  unsubscribe(): void {
    this.#entry.end.delete(this);
    this.withdrawn();
  }

  next(turn: Turn): void {
    if (!this.#isOver) this.#subscriber.next(turn);
  }

  error(cause: unknown): void {
    if (isQueueLockError(cause, 'ENTRY_LOST') && !this.#entry.withdrawn) this.#entry.lose(cause);
    this.#subscriber.error(cause);
  }

  /** Ends the watches of the entry. They must end before the session removes the entry, since that removal is no loss. */
  withdrawn(): void {
    this.#isOver = true;
    this.#turns?.unsubscribe();
  }

  lost(why: unknown): void {
    this.error(why);
  }
}

/**
 * Converts a missing permission to `UNAVAILABLE`, so that the waiter retries until the permission is back. If the permission stays missing, the
 * session ends.
 */
function tolerateRefusal(error: unknown): never {
  if (!isQueueLockError(error, 'ACCESS_DENIED')) throw error;
  throw new QueueLockError('UNAVAILABLE', detailOf(error), { cause: error });
}
