// When a holder leaves, the entry directly behind it holds next, and need not read the queue. For this the holder announces that no other entry was
// ahead of it: to waiters of its own process in memory, and to all others by its entry's value (label). The label is written soon after the grant,
// because waiters must know it before the removal. A waiter that does not get the label reads the queue.
import { labelOfOwner, type Turn } from '@queuelock/core/backend';

import type { Entry } from '../entry/entry.ts';
import { Observable, ignoreElements, switchMap, timer } from '../base/rx.ts';
import { modifiedAt, putKeepingLease } from '../queue/txn.ts';
import type { Following } from './following.ts';
import { creationIdOf } from '../entry/creation-id.ts';

/** What is needed to announce to waiters that an entry holds alone. */
type AnnouncementContext = Pick<Following, 'connection' | 'followed' | 'entry' | 'rule'>;

// Minimum duration of a hold, in milliseconds, before its holder writes the label. Waiters would not see the
// label of a shorter hold in time.
const UNANNOUNCED_HOLD_MS = 1;

/**
 * Records in the entry what its latest turn shows: the grant token, and whether the entry waited or holds
 * alone. Only an exclusive entry with a limit of 1 holds alone when it is admitted.
 */
export function recordTurn(
  { entry, rule }: Pick<AnnouncementContext, 'entry' | 'rule'>,
  { admitted, grantToken }: Turn,
): void {
  entry.grantToken = grantToken;
  if (!admitted) entry.waited = true;
  else if (!entry.shared && rule.limit === 1) entry.owned = true;
}

/**
 * Announces the holder by its label once it is admitted, if it had to wait. A holder that did not wait needs no label: the waiter behind it has read
 * that no other entry is ahead.
 */
export function announceOwner(turns$: Observable<Turn>, context: AnnouncementContext): Observable<Turn> {
  return new Observable((subscriber) => {
    const next = (turn: Turn): void => {
      recordTurn(context, turn);
      subscriber.next(turn);
      if (turn.admitted && context.entry.waited && !subscriber.closed)
        subscriber.add(writeLabel(context).subscribe());
    };
    const error = (cause: unknown): void => {
      subscriber.error(cause);
    };
    subscriber.add(turns$.subscribe({ next, error }));
  });
}

/**
 * Notifies this process's waiters behind the entry that the session is about to remove it. Returns whether such a waiter exists and the removed entry
 * was the only holder.
 */
export function markLeaving({ followed, entry }: Pick<AnnouncementContext, 'followed' | 'entry'>): boolean {
  const creation = creationIdOf(entry);
  const owned = mayAnnounce(entry);
  return creation !== undefined && followed.markLeaving(creation, { owned }) && owned;
}

/**
 * Notifies this process's waiters behind the entry that it holds alone. Returns whether there are such
 * waiters.
 */
function notifyLocalWaiters({ followed, entry }: Pick<AnnouncementContext, 'followed' | 'entry'>): boolean {
  const creation = creationIdOf(entry);
  return creation !== undefined && mayAnnounce(entry) && followed.markOwned(creation);
}

function mayAnnounce({ owned, mark, single }: Entry): boolean {
  return owned && !mark && !single;
}

/** Writes the label for waiters of other processes. Returns a stream that emits nothing. If the write fails, these waiters read the queue. */
function writeLabel(context: AnnouncementContext): Observable<never> {
  const write = async (): Promise<void> => {
    const { connection, entry } = context;
    const { key, value, writtenAt } = entry;
    const label = value === undefined || entry.mark || entry.single ? undefined : labelOfOwner(value);
    if (label === undefined || !entry.owned || notifyLocalWaiters(context)) return;
    // Compares the revision at which the value was written, so that the label overwrites no newer value of the entry.
    const txn = { compare: [modifiedAt(key, writtenAt)], success: [putKeepingLease(key, label)] };
    await connection
      .ask('reading the owner of a queue', (etcd, options) => etcd.txn(txn, options))
      .catch(() => undefined);
  };
  return timer(UNANNOUNCED_HOLD_MS).pipe(switchMap(write), ignoreElements());
}
