import { repeatUntilDefinite } from './definite.ts';
import { QueueLockError } from './errors.ts';
import { EMPTY, Observable, expand, map, merge, of, switchMap, take, throwError } from './rx.ts';
import type { Turn } from './spi.ts';

/** The conflicting entries ahead of one's own. */
export interface Ahead<R> {
  /** Nearest first; all of them, or at least as many as were asked for. */
  readonly refs: readonly R[];
  /** How many there are, where that is known for free. */
  readonly total?: number;
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
export function turnOf(ahead: Ahead<unknown>, limit: number): Turn {
  const admitted = ahead.refs.length < limit;
  return ahead.total === undefined ? { admitted } : { admitted, ahead: ahead.total };
}

/**
 * Follows an entry's turn by watching the `limit` nearest conflicting entries ahead and looking again when one of them
 * goes. As long as any `limit` entries ahead exist the own one is not admitted, so watching that many misses nothing,
 * and the nearest are the ones that leave last: about one wake-up per grant, no herd. For a lock that is the
 * predecessor alone, as in ZooKeeper's lock recipe and etcd's `concurrency.Mutex`.
 *
 *     look ──admitted?──no──► one of the nearest is gone ──► look ──admitted?──yes──► silent until the own entry is gone
 */
export function turnsByWatching<R>(view: QueueView<R>, limit: number, first: Ahead<R>): Observable<Turn> {
  function lookAgain(ahead: Ahead<R>): Observable<Ahead<R>> {
    if (turnOf(ahead, limit).admitted) return EMPTY;
    const nearest = ahead.refs.slice(0, limit).map((ref) => view.gone(ref));
    return merge(...nearest).pipe(
      take(1),
      switchMap(() => look(view, limit)),
    );
  }
  const turn$ = of(first).pipe(
    expand(lookAgain),
    map((ahead) => turnOf(ahead, limit)),
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
