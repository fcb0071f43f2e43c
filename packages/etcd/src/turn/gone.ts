import { askUntilDefinite, labelFromOwner, type Departure, type Followed } from '@queuelock/core/backend';
import type { IEvent } from 'etcd3';
import { lifeOf, type KeyRef, type Rival } from '../queue/ahead.ts';
import type { Compactions } from '../server/compactions.ts';
import type { Entry } from '../entry/entry.ts';
import type { Lookups } from '../server/lookups.ts';
import { Observable, map, merge, take, type Subscription } from '../base/rx.ts';
import type { WatchNews, WatchTarget, Watches } from '../server/watches.ts';

/** What is needed to see a key go. */
export interface Sight {
  readonly watches: Watches;
  readonly lookups: Lookups;
  readonly compactions: Compactions;
  /** The entries of this process that others in it wait for. */
  readonly followed: Followed;
}

/** Who waits for a rival to go. */
export interface Waiter extends Sight {
  readonly entry: Pick<Entry, 'isOfSameSession'>;
}

/**
 * Emits once when the rival does not conflict any more: it is gone, or, `undefined`, it has become a shared one too, or what its going
 * means is to be looked at: one of the own session that this did not take out has most likely gone with the lease, and so has the own
 * entry, of which a watch of its own may tell later.
 */
export function outOfTheWay(rival: Rival, waiter: Waiter): Observable<Departure | undefined> {
  if (!rival.mark) return departure(rival, waiter);
  const shared$ = appeared(rival.mark, waiter).pipe(map(() => undefined));
  return merge(departure(rival, waiter), shared$).pipe(take(1));
}

/**
 * Emits once when the key is gone, also if it was gone before: the store's revision then, or one that is seen later. The first look waits
 * a little for others to go with.
 */
export function gone(ref: KeyRef, sight: Sight): Observable<bigint> {
  const look = absence(ref, { lookups: sight.lookups, patient: true });
  const target: WatchTarget = { key: ref.key, filters: ['Noput'] };
  return once({ target, isIt: (event) => isEndOf(ref, event), look }, sight);
}

/** The same at once, with what the owner has told before: to this process, or by its label. */
function departure(rival: Rival, sight: Waiter): Observable<Departure | undefined> {
  return new Observable((subscriber) => {
    const entry = sight.followed.follow(lifeOf(rival));
    let toldOwned = false;
    const occasion: Occasion = {
      target: { key: rival.key, ...(rival.mayTell ? {} : { filters: ['Noput'] }) },
      isIt: (event) => isEndOf(rival, event),
      look: absence(rival, sight),
      hear: ({ type, kv }) => {
        const isOfIt = type === 'Put' && kv.create_revision === rival.createRevision;
        toldOwned ||= isOfIt && labelFromOwner(kv.value.toString()) !== undefined;
      },
    };
    subscriber.add(() => {
      entry.unfollow();
    });
    const next = (at: bigint): void => {
      const isUnexplained = sight.entry.isOfSameSession(rival.key) && !entry.leaving;
      subscriber.next(isUnexplained ? undefined : { owned: toldOwned || entry.owned, at });
      subscriber.complete();
    };
    const error = (cause: unknown): void => {
      subscriber.error(cause);
    };
    subscriber.add(once(occasion, sight).subscribe({ next, error }));
  });
}

/** Emits once when the key is there, also if it was before. */
function appeared(key: Buffer, sight: Sight): Observable<bigint> {
  const look: Occasion['look'] = (isWanted) =>
    sight.lookups.look({ key }, { isWanted }).then(({ there, revision }) => (there ? revision : undefined));
  return once({ target: { key, filters: ['Nodelete'] }, isIt: ({ type }) => type === 'Put', look }, sight);
}

/** Whether that life of the key is over by then. A watch on a member that lags behind tells of earlier lives first. */
function isEndOf({ createRevision }: KeyRef, { type, kv }: IEvent): boolean {
  return BigInt(type === 'Delete' ? kv.mod_revision : kv.create_revision) > BigInt(createRevision);
}

function absence(
  ref: KeyRef,
  { lookups, patient = false }: Pick<Sight, 'lookups'> & { readonly patient?: boolean },
): Occasion['look'] {
  return (isWanted) =>
    lookups.look(ref, { patient, isWanted }).then(({ there, revision }) => (there ? undefined : revision));
}

interface Occasion {
  readonly target: WatchTarget;
  /** Whether an event tells that it has happened. */
  readonly isIt: (event: IEvent) => boolean;
  /** The revision at which it was seen to have happened; `undefined` if it has not. */
  readonly look: (isWanted: () => boolean) => Promise<bigint | undefined>;
  /** Hears of every event, in their order. */
  readonly hear?: (event: IEvent) => void;
}

/**
 * Watches from now on, and looks once whenever the watch is (again) live and when events may have been lost. One stream by hand: each
 * that waits has two.
 */
function once({ target, isIt, look, hear }: Occasion, { watches, compactions }: Sight): Observable<bigint> {
  return new Observable((subscriber) => {
    let looking: Subscription | undefined;
    const isWanted = (): boolean => !subscriber.closed;
    const error = (cause: unknown): void => {
      subscriber.error(cause);
    };
    const found = (at: bigint | undefined): void => {
      if (at === undefined) return;
      subscriber.next(at);
      subscriber.complete();
    };
    const lookNow = (): void => {
      looking?.unsubscribe();
      looking = askUntilDefinite(() => look(isWanted)).subscribe({ next: found, error: noAnswer });
    };
    const next = (news: WatchNews): void => {
      const events = news.status === 'events' ? news.events : [];
      if (hear) events.forEach(hear);
      const event = events.find(isIt);
      if (event) found(BigInt(event.kv.mod_revision));
      else if (news.status === 'live') lookNow();
    };
    subscriber.add(() => {
      looking?.unsubscribe();
    });
    subscriber.add(watches.watch(target).subscribe({ next, error }));
    subscriber.add(compactions.compacted$.subscribe({ next: lookNow, error }));
  });
}

/** A refusal counts as none: the next occasion may go better. */
function noAnswer(): void {}
