import {
  QueueLockError,
  detailOf,
  isQueueLockError,
  turnOf,
  turnsByWatching,
  type Ahead,
  type QueueView,
  type Rule,
  type Turn,
} from '@queuelock/core/backend';
import type { IRangeRequest } from 'etcd3';
import { aheadIn, suffices, windowFor, type QueueRows, type Rival } from './ahead.ts';
import type { Connection } from './connection.ts';
import type { Entry } from './entry.ts';
import { known } from './entered.ts';
import { gone, outOfTheWay, type Sight } from './gone.ts';
import { rangeUnder } from './keys.ts';
import { noteTurn, tellingOwner } from './owning.ts';
import { Observable, Subscription, catchError, defer, from } from './rx.ts';
import { latestFirst, lookAt } from './txn.ts';

/** What following an entry needs. */
export interface Following extends Sight {
  readonly connection: Connection;
  readonly lease: string;
  readonly entry: Entry;
  readonly order: bigint;
  /** Of the call: the limit may be another one in the next. */
  readonly rule: Required<Rule>;
}

/** Looks: the conflicting entries ahead. Two reads only when readers or keys of nested names fill the first. */
export async function lookAhead(following: Following, count: number): Promise<Ahead<Rival>> {
  const { entry, order } = following;
  const read = async (limit: number): Promise<Ahead<Rival>> => {
    const request = { ...latestFirst(entry.range, limit), max_create_revision: order.toString() };
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
export function follow(following: Following, first: Ahead<Rival>): Observable<Turn> {
  const { entry, order, rule } = following;
  noteTurn(following, turnOf(first, rule));
  const view: QueueView<Rival> = {
    ahead: (count) => lookAhead(following, count).catch(rideOutRefusal),
    gone: (ref) => outOfTheWay(ref, following),
    ownGone$: defer(() => gone({ key: entry.key, createRevision: order.toString() }, following)),
  };
  return tellingOwner(turnsByWatching(view, rule, first), following);
}

/** The same turns; what they end with tells a lost entry from a lost session. */
export function judged(
  turns$: Observable<Turn>,
  following: Pick<Following, 'connection' | 'entry' | 'lease'>,
): Observable<Turn> {
  const judged$ = turns$.pipe(catchError((error: unknown) => from(verdict(error, following))));
  return new Observable((subscriber) => {
    const watching = new Subscription();
    const tell = {
      next: (turn: Turn): void => {
        subscriber.next(turn);
      },
      error: (error: unknown): void => {
        subscriber.error(error);
      },
    };
    const complete = (): void => {
      watching.unsubscribe();
    };
    // Its own removal is no news: the watches go before it does, and nothing is heard any more.
    subscriber.add(following.entry.leaving$.subscribe({ next: tell.next, error: tell.error, complete }));
    if (!watching.closed) watching.add(judged$.subscribe(tell));
    return watching;
  });
}

/** A waiter sits out a lapse of its permissions; if that lasts, its session ends it. */
function rideOutRefusal(error: unknown): never {
  if (!isQueueLockError(error, 'ACCESS_DENIED')) throw error;
  throw new QueueLockError('UNAVAILABLE', detailOf(error), { cause: error });
}

/** Tells an entry that somebody removed from one that went with its lease; nobody asks that of one that is being left. */
async function verdict(
  error: unknown,
  { connection, entry, lease }: Pick<Following, 'connection' | 'entry' | 'lease'>,
): Promise<never> {
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
    const { TTL } = await connection.call(
      'reading a lease',
      (etcd, options) => etcd.leaseTimeToLive(ask, options),
      { urgent: true },
    );
    return Number(TTL) <= 0;
  } catch (error) {
    return isQueueLockError(error, 'SESSION_LOST');
  }
}
