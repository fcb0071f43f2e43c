import {
  labelFromOwner,
  type Departure,
  type LocalWaiters,
  type AdmissionRule,
} from '@queuelock/core/backend';
import type { IEvent } from '../protocol/messages.ts';
import { creationId, type KeyRef, type ConflictingEntry } from '../queue/ahead.ts';
import type { Compactions } from '../server/compactions.ts';
import type { Entry } from '../entry/entry.ts';
import type { Successor, Successors } from './successors.ts';
import type { Lookups, KeyToRead } from '../server/lookups.ts';
import { Observable, map, merge, take } from '../base/rx.ts';
import { ConditionWatch, type Condition } from './condition-watch.ts';
import type { WatchTarget, Watches } from '../server/watches.ts';

/** What a watch for the removal of a key needs from the backend. */
export interface RemovalTools {
  readonly watches: Watches;
  readonly lookups: Lookups;
  readonly compactions: Compactions;
  /** The entries for which waiters of this process wait, with those waiters. */
  readonly followed: LocalWaiters;
}

/** An entry that waits until a conflicting entry is removed. */
export interface Waiter extends RemovalTools {
  readonly entry: Entry;
  readonly rule: AdmissionRule;
  readonly successors: Successors;
}

/**
 * Emits once when the conflicting entry is removed or does not conflict any more. Emits `undefined` if the entry was converted to a shared one, or if
 * the waiter must read the queue. A read is needed if the conflicting entry was of the waiter's own session and this process did not remove it. Most
 * likely the lease has ended, and the waiter's own entry is gone too.
 * @param isSoon whether the waiter may be admitted soon, so that it reads several times while a new watch may be late
 */
export function watchConflictEnd(
  conflicting: ConflictingEntry,
  waiter: Waiter,
  isSoon: boolean,
): Observable<Departure | undefined> {
  if (!conflicting.mark) return watchDeparture(conflicting, waiter, isSoon);
  const shared$ = watchAppearance(conflicting.mark, waiter, isSoon).pipe(map(() => undefined));
  return merge(watchDeparture(conflicting, waiter, isSoon), shared$).pipe(take(1));
}

/**
 * Emits once when the key is removed, also if it was removed before. The value is the store's revision at the removal, or a later one. The first read
 * waits up to 20 ms to share a batch with other reads.
 */
export function watchRemoval(ref: KeyRef, tools: RemovalTools): Observable<bigint> {
  const read = readFor(ref, { lookups: tools.lookups, shouldExist: false, mayWait: true });
  const target: WatchTarget = { key: ref.key, filters: ['Noput'] };
  return watchUntil({ target, isMetBy: (event) => isEndOf(ref, event), read, isSoon: false }, tools);
}

/**
 * Emits once when the conflicting entry's key is removed. The emitted value states whether the entry's holder had announced that it held alone; see
 * `owning.ts`. The first read is sent at once.
 */
function watchDeparture(
  conflicting: ConflictingEntry,
  tools: Waiter,
  isSoon: boolean,
): Observable<Departure | undefined> {
  return new Observable((subscriber) => {
    const creation = creationId(conflicting);
    const entry = tools.followed.follow(creation);
    let hasAnnounced = false;
    const condition: Condition = {
      target: { key: conflicting.key, ...(conflicting.mayAnnounce ? {} : { filters: ['Noput'] }) },
      isMetBy: (event) => isEndOf(conflicting, event),
      read: readFor(conflicting, { lookups: tools.lookups, shouldExist: false }),
      isSoon,
      onEvent: ({ type, kv }) => {
        const isOfIt = type === 'Put' && kv.create_revision === conflicting.createRevision;
        hasAnnounced ||= isOfIt && labelFromOwner(kv.value.toString()) !== undefined;
      },
    };
    const isOfSameSession = tools.entry.isOfSameSession(conflicting.key);
    let grantAt: bigint | undefined;
    const next = (at: bigint): void => {
      const isUnexplained = isOfSameSession && !entry.leaving;
      subscriber.next(isUnexplained ? undefined : { owned: hasAnnounced || entry.owned, at: grantAt ?? at });
      subscriber.complete();
    };
    const notify: Successor['notify'] = (at, now) => {
      grantAt = at;
      if (now) next(at);
    };
    const unregister =
      isOfSameSession && maySucceed(tools)
        ? tools.successors.register(creation, { entry: tools.entry, notify })
        : undefined;
    const watch = new ConditionWatch(condition, tools, next);
    return () => {
      entry.unfollow();
      unregister?.();
      watch.stop();
    };
  });
}

/**
 * Returns whether the entry waits for its predecessor only, and is the only one that waits for this
 * predecessor.
 */
function maySucceed({ entry, rule }: Waiter): boolean {
  return !entry.shared && rule.limit === 1;
}

/** Emits once when the key exists, also if it existed before. The value is the store's revision. */
function watchAppearance(key: Buffer, tools: RemovalTools, isSoon: boolean): Observable<bigint> {
  const read = readFor({ key }, { lookups: tools.lookups, shouldExist: true });
  const target: WatchTarget = { key, filters: ['Nodelete'] };
  return watchUntil({ target, isMetBy: ({ type }) => type === 'Put', read, isSoon }, tools);
}

/**
 * Returns whether the event shows that the key with this create revision no longer exists. A member that lags behind may first deliver events of an
 * earlier entry whose key this entry uses again.
 */
function isEndOf({ createRevision }: KeyRef, { type, kv }: IEvent): boolean {
  return BigInt(type === 'Delete' ? kv.mod_revision : kv.create_revision) > BigInt(createRevision);
}

interface ReadCondition {
  readonly lookups: Lookups;
  /** Whether the condition is met when the key exists. Otherwise it is met when the key does not exist. */
  readonly shouldExist: boolean;
  readonly mayWait?: boolean;
}

function readFor(
  key: KeyToRead,
  { lookups, shouldExist, mayWait = false }: ReadCondition,
): Condition['read'] {
  return (isNeeded) =>
    lookups
      .read(key, { mayWait, isNeeded })
      .then(({ exists, revision }) => ({ hasHappened: exists === shouldExist, at: revision }));
}

function watchUntil(condition: Condition, tools: RemovalTools): Observable<bigint> {
  return new Observable((subscriber) => {
    const watch = new ConditionWatch(condition, tools, (at) => {
      subscriber.next(at);
      subscriber.complete();
    });
    return () => {
      watch.stop();
    };
  });
}
