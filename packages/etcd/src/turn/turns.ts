// Chapter turn: whose turn is it, and why am I waiting for that one?
// Here: follow the nearest ahead. watch-removal: how one is seen to go. owning: who needs no look. single-hold: the key of clients without queues.

import {
  QueueLockError,
  detailOf,
  isQueueLockError,
  turnOf,
  turnsByWatching,
  type EntriesAhead,
  type QueueView,
  type AdmissionRule,
  type Turn,
} from '@queuelock/core/backend';
import type { IRangeRequest } from '../protocol/messages.ts';
import { aheadIn, suffices, windowFor, type QueueRows, type ConflictingEntry } from '../queue/ahead.ts';
import type { Connection } from '../server/connection.ts';
import type { Entry } from '../entry/entry.ts';
import { known } from '../entry/entered.ts';
import { watchRemoval, watchConflictEnd, type RemovalTools } from './watch-removal.ts';
import type { Successors } from './successors.ts';
import { rangeUnder } from '../queue/keys.ts';
import { noteTurn, tellingOwner } from './owning.ts';
import { Observable, Subscription, defer } from '../base/rx.ts';
import { latestFirst, lookAt } from '../queue/txn.ts';

/** What following an entry needs. */
export interface Following extends RemovalTools {
  readonly connection: Connection;
  readonly lease: string;
  readonly entry: Entry;
  readonly successors: Successors;
  readonly order: bigint;
  /** Of the call: the limit may be another one in the next. */
  readonly rule: Required<AdmissionRule>;
}

/** With so many ahead the turn may come before a watch that is behind has caught up, after 100 ms. */
const SOON = 3;

/** Looks: the conflicting entries ahead. Two reads only when readers or keys of nested names fill the first. */
export async function lookAhead(
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

/** A shared entry reads the marks at the same point, an exclusive one does not heed them. */
async function readRows({ connection, entry }: Following, request: IRangeRequest): Promise<QueueRows> {
  const what = 'reading a queue';
  if (!entry.shared)
    return { latest: await connection.ask(what, (etcd, options) => etcd.range(request, options)) };
  const success = [{ request_range: request }, lookAt(rangeUnder(entry.markDirectory))];
  const { responses } = await connection.ask(what, (etcd, options) => etcd.txn({ success }, options));
  const [latest, marks] = responses.map(({ response_range }) => response_range);
  return { latest: known(latest), marks: known(marks) };
}

/** The entry's turns in the line. */
export function follow(following: Following, first: EntriesAhead<ConflictingEntry>): Observable<Turn> {
  const { entry, order, rule } = following;
  const isSoon = (first.total ?? Infinity) <= SOON;
  noteTurn(following, turnOf(first, rule));
  const view: QueueView<ConflictingEntry> = {
    ahead: (count) => lookAhead(following, count).catch(rideOutRefusal),
    removal: (ref) => watchConflictEnd(ref, following, isSoon),
    ownRemoval$: defer(() => watchRemoval({ key: entry.key, createRevision: order.toString() }, following)),
  };
  return tellingOwner(turnsByWatching(view, rule, first), following);
}

/** The same turns, until the entry leaves. Its loss is told by whoever sees it first: its watch, or a heartbeat. */
export function untilWithdrawn(turns$: Observable<Turn>, entry: Entry): Observable<Turn> {
  return new Observable((subscriber) => {
    const watching = new Subscription();
    const next = (turn: Turn): void => {
      subscriber.next(turn);
    };
    const error = (cause: unknown): void => {
      if (isQueueLockError(cause, 'ENTRY_LOST') && !entry.withdrawn) entry.lose(cause);
      subscriber.error(cause);
    };
    const complete = (): void => {
      watching.unsubscribe();
    };
    // Its own removal is no news: the watches go before it does, and nothing is heard any more.
    subscriber.add(entry.leaving$.subscribe({ next, error, complete }));
    if (!watching.closed && !subscriber.closed) watching.add(turns$.subscribe({ next, error }));
    return watching;
  });
}

/** A waiter sits out a lapse of its permissions; if that lasts, its session ends it. */
function rideOutRefusal(error: unknown): never {
  if (!isQueueLockError(error, 'ACCESS_DENIED')) throw error;
  throw new QueueLockError('UNAVAILABLE', detailOf(error), { cause: error });
}
