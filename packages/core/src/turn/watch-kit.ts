// Chapter turn: whose turn is it, and why am I waiting for that one?
// `turnOf` is the rule, `inTheWay` names those to wait for. Of a queue as everybody sees it: admitted, positions, expected-wait.

import { repeatUntilDefinite } from '../kit/definite.ts';
import { QueueLockError } from '../api/errors.ts';
import { Observable, Subscription, map, merge } from '../base/rx.ts';
import type { EntrySpec, Turn } from '../api/spi.ts';

/** An entry that takes permits; 1 if it says nothing. */
export interface Taker {
  readonly permits?: number | undefined;
}

/** What an entry is admitted by. */
export type AdmissionRule = Pick<EntrySpec, 'limit' | 'permits'>;

/** The conflicting entries ahead of one's own. */
export interface EntriesAhead<R> {
  /** Nearest first; all of them, or at least as many as were asked for. */
  readonly refs: readonly R[];
  /** How many there are, where that is known for free. */
  readonly total?: number;
  /** The store's revision as of this look; see `Turn.grantToken`. */
  readonly seenAt?: bigint;
}

/** That an entry ahead is gone. */
export interface Departure {
  /**
   * It is certain that it was admitted, and that nothing that conflicts with it was ahead of it then: so when an exclusive entry
   * with a limit of 1 has left after its hold. One that gave up or died while it waited says nothing.
   */
  readonly owned?: boolean;
  /** The store's revision when it went, where `EntriesAhead.seenAt` is told. */
  readonly at?: bigint;
}

/** What a store without own logic can tell about one entry's place. */
export interface QueueView<R> {
  /** Looks: the nearest `count` conflicting entries ahead. Rejects with `ENTRY_LOST` when the own entry is not there. */
  ahead(count: number): Promise<EntriesAhead<R>>;
  /**
   * Emits once when that entry is gone, also if it was gone before; `undefined` when it may be in the way no more for another
   * reason. Rides out connection trouble.
   */
  removal(ref: R): Observable<Departure | undefined>;
  /** Emits once when the own entry is gone. Whoever is admitted at once asks later, see `OWN_UNWATCHED_MS`. */
  readonly ownRemoval$: Observable<unknown>;
}

/** Whose turn it is: the one rule of every primitive. */
export function turnOf(ahead: EntriesAhead<Taker>, rule: AdmissionRule): Turn {
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
function inTheWay<R extends Taker>(
  nearestFirst: readonly R[],
  { limit, permits = 1 }: AdmissionRule,
): readonly R[] {
  let left = limit - permits;
  const last = nearestFirst.findIndex((ref) => (left -= ref.permits ?? 1) < 0);
  return nearestFirst.slice(0, last + 1);
}

/**
 * What is known of those ahead after one of them has gone, if that is enough to be admitted; else only another look tells. The next
 * one stands behind all that were seen, since nobody can enter in front of an entry.
 */
export function entriesAheadWithout<R extends Taker>(
  { refs, total }: EntriesAhead<R>,
  { ref, owned = false, at }: Departure & { readonly ref: R },
  rule: AdmissionRule,
): EntriesAhead<R> | undefined {
  const place = refs.indexOf(ref);
  const isComplete = total === refs.length;
  if (!owned && !isComplete) return undefined;
  const left = owned ? refs.slice(0, place) : refs.filter((other) => other !== ref);
  if (inTheWay(left, rule).length > 0) return undefined;
  return { refs: left, total: left.length, ...(at === undefined ? {} : { seenAt: at }) };
}

/** As much of it as `entriesAheadWithout` needs, since thousands may wait: of a line that is longer than what was seen of it, those in the way. */
export function remembered<R extends Taker>(ahead: EntriesAhead<R>, rule: AdmissionRule): EntriesAhead<R> {
  const { refs, total } = ahead;
  return total === refs.length ? ahead : Object.assign({}, ahead, { refs: inTheWay(refs, rule) });
}

/** A hold that is shorter than this costs no watch on the own entry. */
export const OWN_UNWATCHED_MS = 250;

/**
 * Follows an entry's turn by watching the nearest conflicting entries ahead, as many as keep it out. When one of them goes it is
 * admitted if what it knows suffices for that, and looks again if not. Those are at most `limit`, and the nearest are the ones that
 * leave last: about one wake-up per grant, no herd. For a lock that is the predecessor alone, as in ZooKeeper's lock recipe and
 * etcd's `concurrency.Mutex`; those look whenever it goes.
 *
 *     look ──admitted?──no──► one of the nearest is gone ──► known, or look ──admitted?──yes──► silent until the own entry is gone
 */
export function turnsByWatching<R extends Taker>(
  view: QueueView<R>,
  rule: AdmissionRule,
  first: EntriesAhead<R>,
): Observable<Turn> {
  const turn = turnOf(first, rule);
  if (turn.admitted) return held(view, turn);
  // The own entry is the first that is watched: whoever finds both gone after a broken connection is lost, and not admitted.
  return merge(lost(view), inLine(view, rule, remembered(first, rule)));
}

/** The turn of an entry that owns at once, and its loss if it owns for long. One stream by hand: every short hold has it. */
function held(view: Pick<QueueView<Taker>, 'ownRemoval$'>, turn: Turn): Observable<Turn> {
  return new Observable((subscriber) => {
    subscriber.next(turn);
    const timer = setTimeout(() => lost(view).subscribe(subscriber), OWN_UNWATCHED_MS);
    return () => {
      clearTimeout(timer);
    };
  });
}

function lost({ ownRemoval$ }: Pick<QueueView<Taker>, 'ownRemoval$'>): Observable<never> {
  return ownRemoval$.pipe(
    map((): never => {
      throw new QueueLockError('ENTRY_LOST', 'the entry was removed by somebody else');
    }),
  );
}

/** The turns of an entry that waits; silent when it is admitted. One stream by hand: there is one for each that waits. */
function inLine<R extends Taker>(
  view: QueueView<R>,
  rule: AdmissionRule,
  first: EntriesAhead<R>,
): Observable<Turn> {
  return new Observable((subscriber) => {
    const error = (cause: unknown): void => {
      subscriber.error(cause);
    };
    let step = new Subscription();
    function nextStep(): Subscription {
      step.unsubscribe();
      return (step = new Subscription());
    }
    function stand(ahead: EntriesAhead<R>): void {
      const waiting = nextStep();
      subscriber.next(turnOf(ahead, rule));
      for (const ref of inTheWay(ahead.refs, rule)) {
        if (waiting.closed) return;
        const next = (gone: Departure | undefined): void => {
          if (waiting.closed) return;
          const known = gone && entriesAheadWithout(ahead, { ref, ...gone }, rule);
          if (known) stand(known);
          else nextStep().add(look(view, rule).subscribe({ next: stand, error }));
        };
        waiting.add(view.removal(ref).subscribe({ next, error }));
      }
    }
    subscriber.add(() => {
      step.unsubscribe();
    });
    stand(first);
  });
}

function look<R extends Taker>(view: QueueView<R>, rule: AdmissionRule): Observable<EntriesAhead<R>> {
  return askUntilDefinite(async () => remembered(await view.ahead(rule.limit), rule));
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
