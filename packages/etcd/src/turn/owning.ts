// The entry behind one that owned the queue owns it next, and need not read the queue. So an owner announces its ownership: to waiters of its
// own process in memory, to all others by its label. The label is written soon after the owner was admitted, and not with the removal,
// since the removal would overtake it. If it arrives late or not at all, the next waiter reads the queue.
import { labelOfOwner, type Turn } from '@queuelock/core/backend';
import { lifeOf } from '../queue/ahead.ts';
import type { Entry } from '../entry/entry.ts';
import { Observable, ignoreElements, switchMap, timer } from '../base/rx.ts';
import { modifiedAt, putKeepingLease } from '../queue/txn.ts';
import type { Following } from './turns.ts';

/** What an announcement needs. */
type Telling = Pick<Following, 'connection' | 'followed' | 'entry' | 'rule'>;

// No waiter would see the label of a hold that is shorter than this.
const HELD_UNTOLD_MS = 1;

/** Records a turn. Only an exclusive entry with a limit of 1 is alone when it is admitted. */
export function noteTurn(
  { entry, rule }: Pick<Telling, 'entry' | 'rule'>,
  { admitted, grantToken }: Turn,
): void {
  entry.grantToken = grantToken;
  if (!admitted) entry.waited = true;
  else if (!entry.shared && rule.limit === 1) entry.owned = true;
}

/** Announces an owner that had to wait, while it holds. An entry that did not wait needs no announcement: its follower has read no other entry ahead. */
export function tellingOwner(turns$: Observable<Turn>, telling: Telling): Observable<Turn> {
  return new Observable((subscriber) => {
    const next = (turn: Turn): void => {
      noteTurn(telling, turn);
      subscriber.next(turn);
      if (turn.admitted && telling.entry.waited && !subscriber.closed)
        subscriber.add(told(telling).subscribe());
    };
    const error = (cause: unknown): void => {
      subscriber.error(cause);
    };
    subscriber.add(turns$.subscribe({ next, error }));
  });
}

/** Notifies the waiters of this process that the session removes the entry. Returns whether any of them waits for its owner. */
export function markLeaving({ followed, entry }: Pick<Telling, 'followed' | 'entry'>): boolean {
  const life = lifeIn(entry);
  const owned = mayTell(entry);
  return life !== undefined && followed.markLeaving(life, { owned }) && owned;
}

/** Notifies the waiters of this process that the entry owns the queue. Returns whether there are any. */
function tellHere({ followed, entry }: Pick<Telling, 'followed' | 'entry'>): boolean {
  const life = lifeIn(entry);
  return life !== undefined && mayTell(entry) && followed.markOwned(life);
}

export function lifeIn({ key, order }: Entry): string | undefined {
  return order === undefined ? undefined : lifeOf({ key, createRevision: order.toString() });
}

function mayTell({ owned, mark, single }: Entry): boolean {
  return owned && !mark && !single;
}

/** Writes the label for waiters of other processes. Emits nothing, and a failure is ignored: the waiters then read the queue. */
function told(telling: Telling): Observable<never> {
  const tell = async (): Promise<void> => {
    const { connection, entry } = telling;
    const { key, value, writtenAt } = entry;
    const label = value === undefined || entry.mark || entry.single ? undefined : labelOfOwner(value);
    if (label === undefined || !entry.owned || tellHere(telling)) return;
    // The comparison prevents that a newer label is overwritten.
    const txn = { compare: [modifiedAt(key, writtenAt)], success: [putKeepingLease(key, label)] };
    await connection
      .ask('telling who owns a queue', (etcd, options) => etcd.txn(txn, options))
      .catch(() => undefined);
  };
  return timer(HELD_UNTOLD_MS).pipe(switchMap(tell), ignoreElements());
}
