// The folder turn answers: which entries are admitted, and which entries does a waiter wait for?
// `turnOf` is the rule, `inTheWay` returns the entries to wait for. For observed queues: admitted.ts, positions.ts, expected-wait.ts.

import { repeatUntilDefinite } from '../kit/definite.ts';
import type { DeadlineQueue } from '../kit/deadline-queue.ts';
import { QueueLockError } from '../api/errors.ts';
import { Observable, Subscription, map, merge } from '../base/rx.ts';
import type { EntrySpec, Turn } from '../api/spi.ts';

/** An entry with the number of permits that it takes. Default 1. */
export interface Taker {
  readonly permits?: number | undefined;
}

/** The parameters that decide an entry's admission. */
export type AdmissionRule = Pick<EntrySpec, 'limit' | 'permits'>;

/** The conflicting entries ahead of an entry. */
export interface EntriesAhead<R> {
  /** The conflicting entries ahead, nearest first: all of them, or at least as many as requested. */
  readonly refs: readonly R[];
  /** Total number of entries ahead, where it is known at no extra cost. */
  readonly total?: number;
  /** The store's revision as of this read; see `Turn.grantToken`. */
  readonly seenAt?: bigint;
}

/** The removal of an entry ahead. */
export interface Departure {
  /**
   * Whether the removed entry was certainly admitted with no conflicting entry ahead. This holds when an exclusive entry with a limit of 1 leaves
   * after its hold. An entry that gave up or died while waiting does not set it.
   */
  readonly owned?: boolean;
  /** The store's revision of the removal, where `EntriesAhead.seenAt` is set. */
  readonly at?: bigint;
}

/** Access to one entry's queue in a store without server-side logic. */
export interface QueueView<R> {
  /** Reads the nearest `count` conflicting entries ahead. Rejects with `ENTRY_LOST` when the own entry is not in the queue. */
  ahead(count: number): Promise<EntriesAhead<R>>;
  /**
   * Emits once when the entry `ref` is gone, even if it was gone before. Emits `undefined` when it may no longer block for another reason. Survives
   * connection trouble.
   */
  removal(ref: R): Observable<Departure | undefined>;
  /** Emits once when the own entry is gone. For an entry admitted at once, it is subscribed later; see `OWN_UNWATCHED_MS`. */
  readonly ownRemoval$: Observable<unknown>;
  /** The timeout of `OWN_UNWATCHED_MS` for all holds of a session. Default: a timer for each hold. */
  readonly unwatched?: DeadlineQueue | undefined;
}

/** Decides whether an entry is admitted. All primitives use this one rule. */
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
 * Returns the nearest entries ahead that together leave too few permits; empty when enough are left. While all of these exist, the own entry is not
 * admitted.
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
 * Returns what is known of the entries ahead after one of them has gone, if that is enough for admission. Otherwise returns `undefined`, and only
 * another read can decide. New entries need no check, since none can join in front of another.
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

/** Keeps only what `entriesAheadWithout` needs, since thousands may wait. Of a queue that was read in part, it keeps only the blocking entries. */
export function remembered<R extends Taker>(ahead: EntriesAhead<R>, rule: AdmissionRule): EntriesAhead<R> {
  const { refs, total } = ahead;
  return total === refs.length ? ahead : Object.assign({}, ahead, { refs: inTheWay(refs, rule) });
}

/** Holds shorter than this, in milliseconds, create no watch on their own entry. */
export const OWN_UNWATCHED_MS = 250;

/**
 * Emits an entry's admission states by watching the nearest conflicting entries ahead, as many as block it. When one of them goes, the entry is
 * admitted if the known data suffices; otherwise its waiter reads the queue again. At most `limit` entries are watched, and the nearest are the last
 * to leave. This gives about one wake-up per grant and no thundering herd. For a lock it is the predecessor alone, as in ZooKeeper's lock recipe and
 * etcd's `concurrency.Mutex`; those implementations read the queue whenever it leaves.
 *
 *     read ──admitted?──no──► one of the nearest is gone ──► known, or read ──admitted?──yes──► silent until the own entry is gone
 */
export function turnsByWatching<R extends Taker>(
  view: QueueView<R>,
  rule: AdmissionRule,
  first: EntriesAhead<R>,
): Observable<Turn> {
  const kept = remembered(first, rule);
  return new Observable((subscriber) => followTurns(view, { rule, first: kept }, subscriber));
}

/** Receives the turns of an entry. No method is called after `error`. */
export interface TurnListener {
  /** Receives each turn, the first one included. */
  next(turn: Turn): void;
  /** Receives the error with which the turns end, such as the loss of the entry. */
  error(cause: unknown): void;
}

/**
 * Reports the turns of an entry like `turnsByWatching`, but to a listener, for a backend that emits them by a stream of its own. Calls the
 * listener with the first turn before it returns. @returns a function that ends it, and may be called again
 */
export function followTurns<R extends Taker>(
  view: QueueView<R>,
  { rule, first }: { readonly rule: AdmissionRule; readonly first: EntriesAhead<R> },
  listener: TurnListener,
): () => void {
  const turn = turnOf(first, rule);
  if (turn.admitted) return followHold(view, turn, listener);
  // The own entry is watched first. If both are gone after a broken connection, the entry is lost, not admitted.
  const turns = merge(lost(view), inLine(view, rule, remembered(first, rule))).subscribe(listener);
  return () => {
    turns.unsubscribe();
  };
}

/** Follows an entry that was admitted at once: its admission, and its loss if it holds for long. Without a stream, since every short hold does this. */
function followHold(
  view: Pick<QueueView<Taker>, 'ownRemoval$' | 'unwatched'>,
  turn: Turn,
  listener: TurnListener,
): () => void {
  const { unwatched } = view;
  let watch: Subscription | undefined;
  const task = {
    timedOut: () => {
      watch = lost(view).subscribe(listener);
    },
  };
  listener.next(turn);
  if (unwatched) unwatched.start(task);
  const timer = unwatched ? undefined : setTimeout(task.timedOut, OWN_UNWATCHED_MS);
  return () => {
    if (unwatched) unwatched.cancel(task);
    else clearTimeout(timer);
    watch?.unsubscribe();
  };
}

function lost({ ownRemoval$ }: Pick<QueueView<Taker>, 'ownRemoval$'>): Observable<never> {
  return ownRemoval$.pipe(
    map((): never => {
      throw new QueueLockError('ENTRY_LOST', 'the entry was removed by another client');
    }),
  );
}

/** Emits the admission states of a waiting entry; silent once it is admitted. A hand-written stream, because every waiter creates one. */
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

/** `repeatUntilDefinite` as a stream: calls `ask` when subscribed and emits its result. Errors when the failure is definite; unsubscribing stops it. */
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
