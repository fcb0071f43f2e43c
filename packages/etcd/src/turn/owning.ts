// When a holder leaves, the waiter directly behind it holds next without reading the queue. So the holder announces that no other entry was ahead of
// it. Waiters of its own process learn this in memory, all others from the value (label) of its entry. The holder writes the label soon after the
// grant, because a label that is written with the removal would arrive too late. A waiter that gets no label reads the queue.
import {
  followTurns,
  labelOfOwner,
  type EntriesAhead,
  type LocalWaiters,
  type QueueView,
  type Turn,
  type TurnListener,
} from '@queuelock/core/backend';

import type { Entry } from '../entry/entry.ts';
import type { Unsubscribable } from '../base/rx.ts';
import type { ConflictingEntry } from '../queue/ahead.ts';
import { modifiedAt, putKeepingLease } from '../queue/txn.ts';
import type { Following } from './following.ts';
import { creationIdOf } from '../entry/creation-id.ts';

/** An entry, and the waiters of this process that are notified when it holds alone or leaves. */
interface LocalAnnouncement {
  readonly followed: LocalWaiters;
  readonly entry: Entry;
}

// Minimum duration of a hold, in milliseconds, before its holder writes the label. Waiters would not see the
// label of a shorter hold in time.
const UNANNOUNCED_HOLD_MS = 1;

/**
 * Records in the entry what its latest turn shows: the grant token, and whether the entry waited or holds
 * alone. Only an exclusive entry with a limit of 1 holds alone when it is admitted.
 */
export function recordTurn(
  { entry, rule }: Pick<Following, 'entry' | 'rule'>,
  { admitted, grantToken }: Turn,
): void {
  entry.grantToken = grantToken;
  if (!admitted) entry.beginWait();
  else if (!entry.shared && rule.limit === 1) entry.owned = true;
}

/**
 * Passes the turns of an entry to a listener, and announces the holder by its label once it is admitted, if it had to wait. Without a wait no label
 * is needed: the entry behind it has read that no other entry is ahead.
 */
export class AnnouncedTurns implements TurnListener, Unsubscribable {
  readonly #following: Following;
  readonly #listener: TurnListener;
  #turns: Unsubscribable | undefined;
  #label: NodeJS.Timeout | undefined;
  #isOver = false;

  constructor(following: Following, listener: TurnListener) {
    this.#following = following;
    this.#listener = listener;
  }

  begin(view: QueueView<ConflictingEntry>, first: EntriesAhead<ConflictingEntry>): void {
    const turns = followTurns(view, { rule: this.#following.rule, first }, this);
    if (this.#isOver) turns.unsubscribe();
    else this.#turns = turns;
  }

  unsubscribe(): void {
    this.#isOver = true;
    this.#turns?.unsubscribe();
    clearTimeout(this.#label);
  }

  next(turn: Turn): void {
    recordTurn(this.#following, turn);
    this.#listener.next(turn);
    if (turn.admitted && this.#following.entry.waited && !this.#isOver)
      this.#label = setTimeout(() => void writeLabel(this.#following), UNANNOUNCED_HOLD_MS);
  }

  error(cause: unknown): void {
    this.#listener.error(cause);
  }
}

/**
 * Notifies this process's waiters behind the entry that the session is about to remove it. Returns whether such a waiter exists and the removed entry
 * was the only holder.
 */
export function markLeaving({ followed, entry }: LocalAnnouncement): boolean {
  const creation = creationIdOf(entry);
  const owned = mayAnnounce(entry);
  return creation !== undefined && followed.markLeaving(creation, { owned }) && owned;
}

/**
 * Notifies this process's waiters behind the entry that it holds alone. Returns whether there are such
 * waiters.
 */
function notifyLocalWaiters({ followed, entry }: LocalAnnouncement): boolean {
  const creation = creationIdOf(entry);
  return creation !== undefined && mayAnnounce(entry) && followed.markOwned(creation);
}

function mayAnnounce({ owned, mark, single }: Entry): boolean {
  return owned && !mark && !single;
}

/** Writes the label of the holder's entry, which announces to waiters of other processes that it holds alone. If the write fails, they read the queue. */
async function writeLabel({ context, entry }: Following): Promise<void> {
  const { connection, followed } = context;
  const { key, value, writtenAt } = entry;
  const label = value === undefined || entry.mark || entry.single ? undefined : labelOfOwner(value);
  if (label === undefined || !entry.owned || notifyLocalWaiters({ followed, entry })) return;
  // Writes the label only if the value still has the known revision, so that no newer value is overwritten.
  const txn = { compare: [modifiedAt(key, writtenAt)], success: [putKeepingLease(key, label)] };
  await connection
    .ask('reading the owner of a queue', (etcd, options) => etcd.txn(txn, options))
    .catch(() => undefined);
}
