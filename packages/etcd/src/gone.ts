import { askUntilDefinite } from '@queuelock/core/backend';
import type { KeyRef } from './ahead.ts';
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
import type { WatchNews, Watches } from './watches.ts';

/** What is needed to see a key go. */
export interface Sight {
  readonly watches: Watches;
  readonly lookups: Lookups;
}

/**
 * Emits once when the key is gone, also if it was gone before: watches from now on and looks once whenever the watch is
 * (again) live. A slow look besides, every 10 to 30 s, since servers before 3.5.18 can lose a delete event around a compaction.
 */
export function gone(ref: KeyRef, { watches, lookups }: Sight): Observable<unknown> {
  const look$ = lookUntilAnswered(() => lookups.isThere(ref)).pipe(filter((there) => !there));
  const atLeisure$ = timer(10_000 + Math.random() * 20_000).pipe(repeat(), takeUntil(watches.closed$));
  return merge(watches.watch({ key: ref.key, filters: ['Noput'] }), atLeisure$).pipe(
    filter((news) => !isBroken(news)),
    switchMap((news) => (isDelete(news) ? of(true) : look$)),
    take(1),
  );
}

function isBroken(news: WatchNews | 0): boolean {
  return news !== 0 && news.status === 'broken';
}

function isDelete(news: WatchNews | 0): boolean {
  return news !== 0 && news.status === 'events' && news.events.some(({ type }) => type === 'Delete');
}

/** A refusal counts as no answer, the next occasion may go better. */
function lookUntilAnswered(ask: () => Promise<boolean>): Observable<boolean> {
  return askUntilDefinite(ask).pipe(catchError(() => EMPTY));
}
