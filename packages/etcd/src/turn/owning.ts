// Whoever stands behind an entry that owned the queue owns it next, and need not look who else is there. So an owner tells that it is one:
// those of its process who wait for it by a note, all others by its label. The label is written soon after the owner's turn has come, and
// not with the removal, which would overtake it. Where it comes late or not at all, the one behind looks.
import { labelOfOwner, type Turn } from '@queuelock/core/backend';
import { lifeOf } from '../queue/ahead.ts';
import type { Entry } from '../entry/entry.ts';
import { Observable, ignoreElements, switchMap, timer } from '../base/rx.ts';
import { modifiedAt, putKeepingLease } from '../queue/txn.ts';
import type { Following } from './turns.ts';

/** What telling needs. */
type Telling = Pick<Following, 'connection' | 'followed' | 'entry' | 'rule'>;

// Before a hold that is shorter than this has ended, no label would be seen.
const HELD_UNTOLD_MS = 1;

/** Notes what a turn says of the entry: only an exclusive one with a limit of 1 is alone when it is admitted. */
export function noteTurn(
  { entry, rule }: Pick<Telling, 'entry' | 'rule'>,
  { admitted, grantToken }: Turn,
): void {
  entry.grantToken = grantToken;
  if (!admitted) entry.waited = true;
  else if (!entry.shared && rule.limit === 1) entry.owned = true;
}

/** The same turns. An owner that had to wait tells others while it holds; whoever is behind one that had not has seen nobody else ahead. */
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

/** To those of this process who wait for the entry that its session takes it out; whether there are any who wait for its owner. */
export function markLeaving({ followed, entry }: Pick<Telling, 'followed' | 'entry'>): boolean {
  const life = lifeIn(entry);
  const owned = mayTell(entry);
  return life !== undefined && followed.markLeaving(life, { owned }) && owned;
}

/** To the same that it owns the queue; whether there are any. */
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

/** To the others. Emits nothing; whether it succeeds is of no importance. */
function told(telling: Telling): Observable<never> {
  const tell = async (): Promise<void> => {
    const { connection, entry } = telling;
    const { key, value, writtenAt } = entry;
    const label = value === undefined || entry.mark || entry.single ? undefined : labelOfOwner(value);
    if (label === undefined || !entry.owned || tellHere(telling)) return;
    // Not onto a label that is newer than the one it is made of.
    const txn = { compare: [modifiedAt(key, writtenAt)], success: [putKeepingLease(key, label)] };
    await connection
      .ask('telling who owns a queue', (etcd, options) => etcd.txn(txn, options))
      .catch(() => undefined);
  };
  return timer(HELD_UNTOLD_MS).pipe(switchMap(tell), ignoreElements());
}
