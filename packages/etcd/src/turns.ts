import {
  QueueLockError,
  detailOf,
  isQueueLockError,
  turnsByWatching,
  type Ahead,
  type QueueView,
  type Turn,
} from '@queuelock/core/backend';
import { aheadIn, suffices, windowFor, type KeyRef } from './ahead.ts';
import type { Connection } from './connection.ts';
import type { Entry } from './entry.ts';
import { gone, type Sight } from './gone.ts';
import { catchError, from, switchMap, timer, type Observable } from './rx.ts';
import { latestFirst } from './txn.ts';

/** What following an entry needs. */
export interface Following extends Sight {
  readonly connection: Connection;
  readonly lease: string;
  readonly entry: Entry;
  readonly order: bigint;
}

// A hold that is shorter than this costs no watch.
const ADMITTED_UNWATCHED_MS = 250;

/** Looks: the conflicting entries ahead. Two reads only when readers or keys of nested names fill the first. */
export async function lookAhead(
  { connection, entry, order }: Following,
  count: number,
): Promise<Ahead<KeyRef>> {
  const read = async (limit: number): Promise<Ahead<KeyRef>> => {
    const request = { ...latestFirst(entry.range, limit), max_create_revision: order.toString() };
    return aheadIn(
      await connection.ask('reading a queue', (etcd, options) => etcd.kv.range(request, options)),
      entry,
    );
  };
  const nearest = await read(windowFor(count));
  return suffices(nearest, count) ? nearest : read(0);
}

/** The entry's turns, for `Placement.turns$`. */
export function follow(following: Following, first: Ahead<KeyRef>): Observable<Turn> {
  const { entry, order } = following;
  const ownGone$ = gone({ key: entry.key, createRevision: order.toString() }, following);
  const admitted = first.refs.length < entry.limit;
  const view: QueueView<KeyRef> = {
    ahead: (count) => lookAhead(following, count).catch(rideOutRefusal),
    gone: (ref) => gone(ref, following),
    ownGone$: admitted ? timer(ADMITTED_UNWATCHED_MS).pipe(switchMap(() => ownGone$)) : ownGone$,
  };
  return turnsByWatching(view, entry, first).pipe(
    catchError((error: unknown) => from(verdict(error, following))),
  );
}

/** A waiter sits out a lapse of its permissions; if that lasts, its session ends it. */
function rideOutRefusal(error: unknown): never {
  if (!isQueueLockError(error, 'ACCESS_DENIED')) throw error;
  throw new QueueLockError('UNAVAILABLE', detailOf(error), { cause: error });
}

/** Tells an entry that somebody removed from one that went with its lease; nobody asks that of one that is being left. */
async function verdict(error: unknown, { connection, entry, lease }: Following): Promise<never> {
  if (isQueueLockError(error, 'ENTRY_LOST') && !entry.withdrawn) {
    entry.gone = true;
    if (await isLeaseGone(connection, lease)) {
      throw new QueueLockError('SESSION_LOST', 'the lease has ended, and the entry with it', {
        cause: error,
      });
    }
  }
  throw error;
}

async function isLeaseGone(connection: Connection, lease: string): Promise<boolean> {
  try {
    const ask = { ID: lease };
    const { TTL } = await connection.call('reading a lease', (etcd, options) =>
      etcd.leaseClient.leaseTimeToLive(ask, options),
    );
    return Number(TTL) <= 0;
  } catch (error) {
    return isQueueLockError(error, 'SESSION_LOST');
  }
}
