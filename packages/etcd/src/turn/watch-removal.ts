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
import { lifeOf, type KeyRef, type ConflictingEntry } from '../queue/ahead.ts';
import type { Compactions } from '../server/compactions.ts';
import type { Entry } from '../entry/entry.ts';
import type { Successor, Successors } from './successors.ts';
import type { Lookups, Sought } from '../server/lookups.ts';
import { Observable, map, merge, take, type Subscription } from '../base/rx.ts';
import type { WatchNews, WatchTarget, Watches } from '../server/watches.ts';

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
interface Sighting {
  readonly hasHappened: boolean;
  /** The revision of the store at the read. */
  readonly at: bigint;
}

// Delays of the reads that follow the start of a watch that may be delayed, until a server has certainly caught up.
const LOOKS_AGAIN_AFTER_MS = [20, 30, 50] as const;
// Delay before the next read after a missing permission. The key may be gone already, so that no event follows.
const AFTER_REFUSAL = { initialDelayMs: 200, maxDelayMs: 10_000 } as const;

/**
 * Emits once when the entry does not conflict any more. Emits `undefined` if it was converted to a shared entry, or if the queue must be read. The
 * latter is so for an entry of the own session that this process did not remove: it most likely vanished with the lease, as the own entry
 * did, and the own watch may notice that later. `isSoon`: the waiter may be admitted soon, so reads compensate for a delayed watch.
 */
export function watchConflictEnd(
  rival: ConflictingEntry,
  waiter: Waiter,
  isSoon: boolean,
): Observable<Departure | undefined> {
  if (!rival.mark) return watchDeparture(rival, waiter, isSoon);
  const shared$ = watchAppearance(rival.mark, waiter, isSoon).pipe(map(() => undefined));
  return merge(watchDeparture(rival, waiter, isSoon), shared$).pipe(take(1));
}

/**
 * Emits once when the key is removed, also if it was removed before: the store's revision then, or a later one. The first read waits a little
 * for others, to share their batch.
 */
export function watchRemoval(ref: KeyRef, sight: RemovalTools): Observable<bigint> {
  const look = lookFor(ref, { lookups: sight.lookups, isThere: false, patient: true });
  const target: WatchTarget = { key: ref.key, filters: ['Noput'] };
  return once({ target, isIt: (event) => isEndOf(ref, event), look, isSoon: false }, sight);
}

/** Emits once when the key is removed, with the owner's announcement to this process or by its label. Its first read is sent at once. */
function watchDeparture(
  rival: ConflictingEntry,
  sight: Waiter,
  isSoon: boolean,
): Observable<Departure | undefined> {
  return new Observable((subscriber) => {
    const life = lifeOf(rival);
    const entry = sight.followed.follow(life);
    let toldOwned = false;
    const occasion: Occasion = {
      target: { key: rival.key, ...(rival.mayTell ? {} : { filters: ['Noput'] }) },
      isIt: (event) => isEndOf(rival, event),
      look: lookFor(rival, { lookups: sight.lookups, isThere: false }),
      isSoon,
      hear: ({ type, kv }) => {
        const isOfIt = type === 'Put' && kv.create_revision === rival.createRevision;
        toldOwned ||= isOfIt && labelFromOwner(kv.value.toString()) !== undefined;
      },
    };
    const isOfSameSession = sight.entry.isOfSameSession(rival.key);
    let toldAt: bigint | undefined;
    const next = (at: bigint): void => {
      const isUnexplained = isOfSameSession && !entry.leaving;
      subscriber.next(isUnexplained ? undefined : { owned: toldOwned || entry.owned, at: toldAt ?? at });
      subscriber.complete();
    };
    const notify: Successor['notify'] = (at, now) => {
      toldAt = at;
      if (now) next(at);
    };
    subscriber.add(() => {
      entry.unfollow();
    });
    if (isOfSameSession && mayInherit(sight))
      subscriber.add(sight.successors.stand(life, { entry: sight.entry, notify }));
    const error = (cause: unknown): void => {
      subscriber.error(cause);
    };
    subscriber.add(once(occasion, sight).subscribe({ next, error }));
  });
}

/** Returns whether the entry waits for one entry only, and no other entry waits for the same. */
function mayInherit({ entry, rule }: Waiter): boolean {
  return !entry.shared && rule.limit === 1;
}

/** Emits once when the key exists, also if it existed before. */
function watchAppearance(key: Buffer, sight: RemovalTools, isSoon: boolean): Observable<bigint> {
  const look = lookFor({ key }, { lookups: sight.lookups, isThere: true });
  const target: WatchTarget = { key, filters: ['Nodelete'] };
  return once({ target, isIt: ({ type }) => type === 'Put', look, isSoon }, sight);
}

/** Returns whether this creation of the key has ended by then. A watch on a member that lags behind delivers events of earlier ones first. */
function isEndOf({ createRevision }: KeyRef, { type, kv }: IEvent): boolean {
  return BigInt(type === 'Delete' ? kv.mod_revision : kv.create_revision) > BigInt(createRevision);
}

/** The state to wait for: the key exists, or it does not. */
interface Expected {
  readonly lookups: Lookups;
  readonly isThere: boolean;
  readonly patient?: boolean;
}

function lookFor(sought: Sought, { lookups, isThere, patient = false }: Expected): Occasion['look'] {
  return (isWanted) =>
    lookups
      .look(sought, { patient, isWanted })
      .then(({ there, revision }) => ({ hasHappened: there === isThere, at: revision }));
}

interface Occasion {
  readonly target: WatchTarget;
  /** Returns whether the event shows the expected state. */
  readonly isIt: (event: IEvent) => boolean;
  readonly look: (isWanted: () => boolean) => Promise<Sighting>;
  /** Whether reads compensate for a delayed watch. */
  readonly isSoon: boolean;
  /** Receives every event, in order. */
  readonly hear?: (event: IEvent) => void;
}

/**
 * Watches from now on. Reads once whenever the watch is live (again), and when events may have been lost. It is one handwritten stream instead of
 * operators for efficiency, since each waiter has two of them.
 */
function once({ target, isIt, look, isSoon, hear }: Occasion, sight: RemovalTools): Observable<bigint> {
  const { watches, compactions } = sight;
  return new Observable((subscriber) => {
    let looking: Subscription | undefined;
    let again: ReturnType<typeof setTimeout> | undefined;
    let refusals = 0;
    const error = (cause: unknown): void => {
      subscriber.error(cause);
    };
    const found = (at: bigint): void => {
      subscriber.next(at);
      subscriber.complete();
    };
    /** @param since the revision before the watch began, if it may be delayed; `looks`: the number of reads since then */
    const lookNow = (since?: string, looks = 0): void => {
      looking?.unsubscribe();
      clearTimeout(again);
      const next = ({ hasHappened, at }: Sighting): void => {
        refusals = 0;
        const pauseMs = LOOKS_AGAIN_AFTER_MS[looks];
        const mayBeBehind = since !== undefined && at > BigInt(since);
        if (hasHappened) found(at);
        else if (isSoon && mayBeBehind && pauseMs !== undefined)
          again = setTimeout(() => lookNow(since, looks + 1), pauseMs);
      };
      const refused = (failure: unknown): void => {
        if (isQueueLockError(failure, 'ACCESS_DENIED'))
          again = setTimeout(() => lookNow(since, looks), backoffDelay(refusals++, AFTER_REFUSAL));
      };
      looking = askUntilDefinite(() => look(() => !subscriber.closed)).subscribe({ next, error: refused });
    };
    const next = (news: WatchNews): void => {
      const events = news.status === 'events' ? news.events : [];
      if (hear) events.forEach(hear);
      const event = events.find(isIt);
      if (event) found(BigInt(event.kv.mod_revision));
      else if (news.status === 'live') lookNow(news.revision);
    };
    subscriber.add(() => {
      looking?.unsubscribe();
      clearTimeout(again);
    });
    subscriber.add(watches.watch(target).subscribe({ next, error }));
    subscriber.add(compactions.compacted$.subscribe({ next: () => lookNow(), error }));
  });
}
