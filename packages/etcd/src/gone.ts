import { askUntilDefinite } from '@queuelock/core/backend';
import type { IEvent } from 'etcd3';
import type { KeyRef, Rival } from './ahead.ts';
import type { Lookups } from './lookups.ts';
import {
  EMPTY,
  catchError,
  filter,
  merge,
  of,
  repeat,
  switchMap,
  take,
  takeUntil,
  timer,
  type Observable,
} from './rx.ts';
import type { WatchNews, WatchTarget, Watches } from './watches.ts';

/** What is needed to see a key go. */
export interface Sight {
  readonly watches: Watches;
  readonly lookups: Lookups;
}

/** Emits once when the rival does not conflict any more: it is gone, or it has become a shared one too. */
export function outOfTheWay(rival: Rival, sight: Sight): Observable<unknown> {
  if (!rival.mark) return gone(rival, sight);
  return merge(gone(rival, sight), appeared(rival.mark, sight)).pipe(take(1));
}

/** Emits once when the key is gone, also if it was gone before. */
export function gone(ref: KeyRef, sight: Sight): Observable<unknown> {
  const look = (): Promise<boolean> => sight.lookups.isThere(ref).then((there) => !there);
  return once({ target: { key: ref.key, filters: ['Noput'] }, type: 'Delete', look }, sight);
}

/** Emits once when the key is there, also if it was before. */
function appeared(key: Buffer, sight: Sight): Observable<unknown> {
  const look = (): Promise<boolean> => sight.lookups.isThere({ key });
  return once({ target: { key, filters: ['Nodelete'] }, type: 'Put', look }, sight);
}

interface Occasion {
  readonly target: WatchTarget;
  readonly type: IEvent['type'];
  /** Whether it has happened. */
  readonly look: () => Promise<boolean>;
}

/**
 * Watches from now on and looks once whenever the watch is (again) live. A slow look besides, every 10 to 30 s, since servers
 * before 3.5.18 can lose a delete event around a compaction.
 */
function once({ target, type, look }: Occasion, { watches }: Sight): Observable<unknown> {
  const look$ = lookUntilAnswered(look).pipe(filter((happened) => happened));
  const atLeisure$ = timer(10_000 + Math.random() * 20_000).pipe(repeat(), takeUntil(watches.closed$));
  return merge(watches.watch(target), atLeisure$).pipe(
    filter((news) => !isBroken(news)),
    switchMap((news) => (tells(news, type) ? of(true) : look$)),
    take(1),
  );
}

function isBroken(news: WatchNews | 0): boolean {
  return news !== 0 && news.status === 'broken';
}

function tells(news: WatchNews | 0, type: IEvent['type']): boolean {
  return news !== 0 && news.status === 'events' && news.events.some((event) => event.type === type);
}

/** A refusal counts as no answer, the next occasion may go better. */
function lookUntilAnswered(ask: () => Promise<boolean>): Observable<boolean> {
  return askUntilDefinite(ask).pipe(catchError(() => EMPTY));
}
