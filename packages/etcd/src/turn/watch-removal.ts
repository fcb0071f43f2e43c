import {
  askUntilDefinite,
  backoffDelay,
  isQueueLockError,
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
import { Observable, map, merge, take, type Subscription } from '../base/rx.ts';
import type { WatchNotification, WatchTarget, Watches } from '../server/watches.ts';

/** What is needed to notice the removal of a key. */
export interface RemovalTools {
  readonly watches: Watches;
  readonly lookups: Lookups;
  readonly compactions: Compactions;
  /** The entries of this process that other entries of it wait for. */
  readonly followed: LocalWaiters;
}

/** An entry that waits for the removal of a conflicting entry. */
export interface Waiter extends RemovalTools {
  readonly entry: Entry;
  readonly rule: AdmissionRule;
  readonly successors: Successors;
}

/** The result of a read. */
interface ReadResult {
  readonly hasHappened: boolean;
  /** The revision of the store at the read. */
  readonly at: bigint;
}

// Delays of the reads that follow the start of a watch that may be delayed, until a server has certainly caught up.
const READ_AGAIN_AFTER_MS = [20, 30, 50] as const;
// Delay before the next read after a missing permission. The key may be gone already, so that no event follows.
const AFTER_REFUSAL = { initialDelayMs: 200, maxDelayMs: 10_000 } as const;

/**
 * Emits once when the entry does not conflict any more. Emits `undefined` if it was converted to a shared entry, or if the queue must be read. The
 * latter is so for an entry of the own session that this process did not remove: it most likely vanished with the lease, as the own entry
 * did, and the own watch may notice that later. `isSoon`: the waiter may be admitted soon, so reads compensate for a delayed watch.
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

/** Emits once when the key is removed, with the owner's announcement to this process or by its label. Its first read is sent at once. */
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
    subscriber.add(() => {
      entry.unfollow();
    });
    if (isOfSameSession && maySucceed(tools))
      subscriber.add(tools.successors.register(creation, { entry: tools.entry, notify }));
    const error = (cause: unknown): void => {
      subscriber.error(cause);
    };
    subscriber.add(watchUntil(condition, tools).subscribe({ next, error }));
  });
}

/** Returns whether the entry waits for one entry only, and no other entry waits for the same. */
function maySucceed({ entry, rule }: Waiter): boolean {
  return !entry.shared && rule.limit === 1;
}

/** Emits once when the key exists, also if it existed before. */
function watchAppearance(key: Buffer, tools: RemovalTools, isSoon: boolean): Observable<bigint> {
  const read = readFor({ key }, { lookups: tools.lookups, shouldExist: true });
  const target: WatchTarget = { key, filters: ['Nodelete'] };
  return watchUntil({ target, isMetBy: ({ type }) => type === 'Put', read, isSoon }, tools);
}

/** Returns whether this creation of the key has ended by then. A watch on a member that lags behind delivers events of earlier ones first. */
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

interface Condition {
  readonly target: WatchTarget;
  /** Returns whether the event shows the expected state. */
  readonly isMetBy: (event: IEvent) => boolean;
  readonly read: (isNeeded: () => boolean) => Promise<ReadResult>;
  /** Whether reads compensate for a delayed watch. */
  readonly isSoon: boolean;
  /** Receives every event, in order. */
  readonly onEvent?: (event: IEvent) => void;
}

/**
 * Watches from now on. Reads once whenever the watch is live (again), and when events may have been lost. It is one handwritten stream instead of
 * operators for efficiency, since each waiter has two of them.
 */
function watchUntil(
  { target, isMetBy, read, isSoon, onEvent }: Condition,
  tools: RemovalTools,
): Observable<bigint> {
  const { watches, compactions } = tools;
  return new Observable((subscriber) => {
    let reading: Subscription | undefined;
    let again: ReturnType<typeof setTimeout> | undefined;
    let refusals = 0;
    const error = (cause: unknown): void => {
      subscriber.error(cause);
    };
    const found = (at: bigint): void => {
      subscriber.next(at);
      subscriber.complete();
    };
    /** @param since the revision before the watch began, if it may be delayed; `reads`: the number of reads since then */
    const readNow = (since?: string, reads = 0): void => {
      reading?.unsubscribe();
      clearTimeout(again);
      const next = ({ hasHappened, at }: ReadResult): void => {
        refusals = 0;
        const pauseMs = READ_AGAIN_AFTER_MS[reads];
        const mayBeBehind = since !== undefined && at > BigInt(since);
        if (hasHappened) found(at);
        else if (isSoon && mayBeBehind && pauseMs !== undefined)
          again = setTimeout(() => readNow(since, reads + 1), pauseMs);
      };
      const refused = (failure: unknown): void => {
        if (isQueueLockError(failure, 'ACCESS_DENIED'))
          again = setTimeout(() => readNow(since, reads), backoffDelay(refusals++, AFTER_REFUSAL));
      };
      reading = askUntilDefinite(() => read(() => !subscriber.closed)).subscribe({ next, error: refused });
    };
    const next = (notification: WatchNotification): void => {
      const events = notification.status === 'events' ? notification.events : [];
      if (onEvent) events.forEach(onEvent);
      const event = events.find(isMetBy);
      if (event) found(BigInt(event.kv.mod_revision));
      else if (notification.status === 'live') readNow(notification.revision);
    };
    subscriber.add(() => {
      reading?.unsubscribe();
      clearTimeout(again);
    });
    subscriber.add(watches.watch(target).subscribe({ next, error }));
    subscriber.add(compactions.compacted$.subscribe({ next: () => readNow(), error }));
  });
}
