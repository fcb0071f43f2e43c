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

/** The dependencies of watches for the removal of a key. */
export interface RemovalTools {
  readonly watches: Watches;
  readonly lookups: Lookups;
  readonly compactions: Compactions;
  /** The entries of this process for which other entries of this process wait. */
  readonly followed: LocalWaiters;
}

/** An entry that waits for the removal of a conflicting entry. */
export interface Waiter extends RemovalTools {
  readonly entry: Entry;
  readonly rule: AdmissionRule;
  readonly successors: Successors;
}

/**
 * Emits once when the entry does not conflict any more. Emits `undefined` if it was converted to a shared entry, or if the queue must be read. The
 * queue must be read if the removed entry belonged to the own session and this process did not remove it. It most likely vanished with the lease, and
 * the own entry with it. `isSoon`: the waiter may be admitted soon, so reads compensate for a delayed watch.
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
 * Emits once when the key is removed, also if it was removed before: the store's revision then, or a later one. The first read waits a little
 * for others, to share their batch.
 */
export function watchRemoval(ref: KeyRef, tools: RemovalTools): Observable<bigint> {
  const read = readFor(ref, { lookups: tools.lookups, shouldExist: false, mayWait: true });
  const target: WatchTarget = { key: ref.key, filters: ['Noput'] };
  return watchUntil({ target, isMetBy: (event) => isEndOf(ref, event), read, isSoon: false }, tools);
}

/**
 * Emits once when the key is removed, with whether the owner has announced itself to this process or by its label. The first read is sent at once.
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

/** Returns whether the entry waits for one entry only, and is the only one that waits for that entry. */
function maySucceed({ entry, rule }: Waiter): boolean {
  return !entry.shared && rule.limit === 1;
}

/** Emits once when the key exists, also if it existed before. */
function watchAppearance(key: Buffer, tools: RemovalTools, isSoon: boolean): Observable<bigint> {
  const read = readFor({ key }, { lookups: tools.lookups, shouldExist: true });
  const target: WatchTarget = { key, filters: ['Nodelete'] };
  return watchUntil({ target, isMetBy: ({ type }) => type === 'Put', read, isSoon }, tools);
}

/** Returns whether the event ends this creation of the key. A watch on a member that lags behind delivers the events of earlier creations first. */
function isEndOf({ createRevision }: KeyRef, { type, kv }: IEvent): boolean {
  return BigInt(type === 'Delete' ? kv.mod_revision : kv.create_revision) > BigInt(createRevision);
}

interface ReadCondition {
  readonly lookups: Lookups;
  /** Whether the waiter waits for the key to exist. Otherwise it waits for its removal. */
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
