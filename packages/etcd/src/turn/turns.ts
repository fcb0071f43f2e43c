// Chapter turn: which entry is admitted, and for which entry does a waiter wait?
// turns (this file): follows the predecessor. watch-removal: how a removal is noticed. owning: when no read is needed. single-hold: single keys.

import {
  QueueLockError,
  detailOf,
  isQueueLockError,
  turnOf,
  turnsByWatching,
  type EntriesAhead,
  type QueueView,
  type Turn,
} from '@queuelock/core/backend';
import type { IRangeRequest } from '../protocol/messages.ts';
import { aheadIn, suffices, windowFor, type QueueRows, type ConflictingEntry } from '../queue/ahead.ts';

import type { Entry } from '../entry/entry.ts';
import type { EntryEndListener } from '../entry/entry-end.ts';
import { known } from '../entry/entered.ts';
import { watchRemoval, watchConflictEnd } from './watch-removal.ts';

import { rangeUnder } from '../queue/keys.ts';
import { recordTurn, announceOwner } from './owning.ts';
import { Observable, Subscription, defer } from '../base/rx.ts';
import { latestFirst, readKeys } from '../queue/txn.ts';
import type { Following } from './following.ts';

/** With at most this many entries ahead, the waiter may be admitted before a delayed watch has caught up, which takes up to 100 ms. */
const SOON = 3;

/** Reads the conflicting entries ahead. A second read follows only if shared entries or keys of nested names fill the first. */
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

/** Reads rows of the queue. A shared entry needs the marks at the same revision, an exclusive one ignores them. */
async function readRows({ connection, entry }: Following, request: IRangeRequest): Promise<QueueRows> {
  const what = 'reading a queue';
  if (!entry.shared)
    return { latest: await connection.ask(what, (etcd, options) => etcd.range(request, options)) };
  const success = [{ request_range: request }, readKeys(rangeUnder(entry.markDirectory))];
  const { responses } = await connection.ask(what, (etcd, options) => etcd.txn({ success }, options));
  const [latest, marks] = responses.map(({ response_range }) => response_range);
  return { latest: known(latest), marks: known(marks) };
}

/** Returns the entry's turns in the queue. */
export function follow(following: Following, first: EntriesAhead<ConflictingEntry>): Observable<Turn> {
  const { entry, order, rule } = following;
  const isSoon = (first.total ?? Infinity) <= SOON;
  const turn = turnOf(first, rule);
  recordTurn(following, turn);
  const view: QueueView<ConflictingEntry> = {
    ahead: (count) => readAhead(following, count).catch(tolerateRefusal),
    removal: (ref) => watchConflictEnd(ref, following, isSoon),
    ownRemoval$: defer(() => watchRemoval({ key: entry.key, createRevision: order.toString() }, following)),
  };
  const turns$ = turnsByWatching(view, rule, first);
  // An entry that was admitted at once has one turn, which is recorded, and no waiter needs its label.
  return turn.admitted && !entry.waited ? turns$ : announceOwner(turns$, following);
}

/** Returns the turns until the entry is withdrawn. Its loss is reported by the first that notices it: its watch, or a heartbeat. */
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
    // The entry's own removal is no loss, so its watches end before it.
    const listener: EntryEndListener = { withdrawn: () => watching.unsubscribe(), lost: error };
    entry.end.add(listener);
    if (!watching.closed && !subscriber.closed) watching.add(turns$.subscribe({ next, error }));
    return () => {
      entry.end.delete(listener);
      watching.unsubscribe();
    };
  });
}

/** Converts a missing permission to `UNAVAILABLE`, so that a waiter survives it for a while. If it lasts, the session ends. */
function tolerateRefusal(error: unknown): never {
  if (!isQueueLockError(error, 'ACCESS_DENIED')) throw error;
  throw new QueueLockError('UNAVAILABLE', detailOf(error), { cause: error });
}
