import { repeatUntilDefinite } from './definite.ts';
import { QueueLockError } from './errors.ts';
import { EMPTY, Observable, expand, map, merge, of, switchMap, take, throwError } from './rx.ts';
import type { EntrySpec, Turn } from './spi.ts';

/** An entry that takes permits; 1 if it says nothing. */
export interface Taker {
  readonly permits?: number | undefined;
}

/** What an entry is admitted by. */
export type Rule = Pick<EntrySpec, 'limit' | 'permits'>;

/** The conflicting entries ahead of one's own. */
export interface Ahead<R> {
  /** Nearest first; all of them, or at least as many as were asked for. */
  readonly refs: readonly R[];
  /** How many there are, where that is known for free. */
  readonly total?: number;
  /** The store's revision as of this look; see `Turn.grantToken`. */
  readonly seenAt?: bigint;
}

/** What a store without own logic can tell about one entry's place. */
export interface QueueView<R> {
  /** Looks: the nearest `count` conflicting entries ahead. Rejects with `ENTRY_LOST` when the own entry is not there. */
  ahead(count: number): Promise<Ahead<R>>;
  /** Emits once when that entry is gone, also if it was gone before. Rides out connection trouble. */
  gone(ref: R): Observable<unknown>;
  /** Emits once when the own entry is gone. */
  readonly ownGone$: Observable<unknown>;
}

/** Whose turn it is: the one rule of every primitive. */
export function turnOf(ahead: Ahead<Taker>, rule: Rule): Turn {
  const { refs, total, seenAt } = ahead;
  const admitted = inTheWay(refs, rule).length === 0;
  return {
    admitted,
    ...(total === undefined ? {} : { ahead: total }),
    ...(admitted && seenAt !== undefined ? { grantToken: seenAt } : {}),
  };
}

/**
 * The nearest entries ahead that together leave too few permits, none when there are enough: as long as all of these
 * exist, the own entry is not admitted.
 */
function inTheWay<R extends Taker>(nearestFirst: readonly R[], { limit, permits = 1 }: Rule): readonly R[] {
  let left = limit - permits;
  const last = nearestFirst.findIndex((ref) => (left -= ref.permits ?? 1) < 0);
  return nearestFirst.slice(0, last + 1);
}

/**
 * Follows an entry's turn by watching the nearest conflicting entries ahead, as many as keep it out, and looking again when
 * one of them goes. Those are at most `limit`, and the nearest are the ones that leave last: about one wake-up per grant, no
 * herd. For a lock that is the predecessor alone, as in ZooKeeper's lock recipe and etcd's `concurrency.Mutex`.
 *
 *     look ──admitted?──no──► one of the nearest is gone ──► look ──admitted?──yes──► silent until the own entry is gone
 */
export function turnsByWatching<R extends Taker>(
  view: QueueView<R>,
  rule: Rule,
  first: Ahead<R>,
): Observable<Turn> {
  function lookAgain(ahead: Ahead<R>): Observable<Ahead<R>> {
    const nearest = inTheWay(ahead.refs, rule).map((ref) => view.gone(ref));
    if (nearest.length === 0) return EMPTY;
    return merge(...nearest).pipe(
      take(1),
      switchMap(() => look(view, rule.limit)),
    );
  }
  const turn$ = of(first).pipe(
    expand(lookAgain),
    map((ahead) => turnOf(ahead, rule)),
  );
  const lost$ = view.ownGone$.pipe(
    take(1),
    switchMap(() =>
      throwError(() => new QueueLockError('ENTRY_LOST', 'the entry was removed by somebody else')),
    ),
  );
  return merge(turn$, lost$);
}

function look<R>(view: QueueView<R>, count: number): Observable<Ahead<R>> {
  return askUntilDefinite(() => view.ahead(count));
}

/** `repeatUntilDefinite` as a stream: asks when subscribed, emits the answer, errors when it is definite; unsubscribing stops it. */
export function askUntilDefinite<T>(ask: () => Promise<T>): Observable<T> {
  return new Observable((subscriber) => {
    const stopped = new AbortController();
    repeatUntilDefinite(ask, stopped.signal).then(
      (answer) => {
        subscriber.next(answer);
        subscriber.complete();
      },
      (error: unknown) => {
        subscriber.error(error);
      },
    );
    return () => {
      stopped.abort();
    };
  });
}
