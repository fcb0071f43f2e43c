// Folder "turn": decides which entries are admitted, and for which entries a waiter waits.
// In watch-kit.ts (this file), `turnOf` decides whether an entry is admitted, and `inTheWay` returns the entries to wait for. admitted.ts,
// positions.ts and expected-wait.ts apply the same rule to observed queues.

import { repeatUntilDefinite } from '../kit/definite.ts';
import type { DeadlineQueue } from '../kit/deadline-queue.ts';
import { QueueLockError } from '../api/errors.ts';
import { Observable, Subscription, map, merge } from '../base/rx.ts';
import type { EntrySpec, Turn } from '../api/spi.ts';

/** A reference to an entry ahead, with the number of permits that the entry takes. Default 1. */
export interface Taker {
  readonly permits?: number | undefined;
}

/** The properties of an entry on which its admission depends. */
export type AdmissionRule = Pick<EntrySpec, 'limit' | 'permits'>;

/** The conflicting entries ahead of an entry. */
export interface EntriesAhead<R> {
  /** The conflicting entries ahead, the nearest first. Contains all of them, or at least as many as the caller has requested. */
  readonly refs: readonly R[];
  /** Number of all conflicting entries ahead. Set where the backend knows it without a further request. */
  readonly total?: number;
  /** The store's revision at this read; see `Turn.grantToken`. */
  readonly seenAt?: bigint;
}

/** What is known about an entry ahead that has left the queue. */
export interface Departure {
  /**
   * Whether the removed entry was certainly admitted, with no conflicting entry ahead of it. That is so when an exclusive entry with a limit of 1
   * leaves after its hold. It is not set for an entry that gave up or whose client died while it waited.
   */
  readonly owned?: boolean;
  /** The store's revision of the removal. Set on stores whose reads set `EntriesAhead.seenAt`. */
  readonly at?: bigint;
}

/** Access of one entry to its queue, on a store that does not decide admission itself. */
export interface QueueView<R> {
  /** Reads the nearest `count` conflicting entries ahead. Rejects with `ENTRY_LOST` when the queue does not contain this entry. */
  ahead(count: number): Promise<EntriesAhead<R>>;
  /**
   * Emits once when the entry `ref` has left the queue, even if it had left before. Emits `undefined` when `ref` may no longer block this entry for a
   * reason other than its removal. Continues after a broken connection.
   */
  removal(ref: R): Observable<Departure | undefined>;
  /** Emits once when this entry has left the queue. For an entry that was admitted at once, the watch starts later; see `OWN_UNWATCHED_MS`. */
  readonly ownRemoval$: Observable<unknown>;
  /**
   * Runs the timers after which the holds of a session begin to watch their own entries (`OWN_UNWATCHED_MS`) with one timer. Default: a timer for
   * each hold.
   */
  readonly unwatched?: DeadlineQueue | undefined;
}

/** Decides whether an entry is admitted, for all kinds of locks and semaphores. */
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
 * Returns the nearest entries ahead that together leave too few permits. Returns an empty list when enough permits are left. While all returned
 * entries exist, the waiter's entry is not admitted.
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
 * Returns the entries ahead after one of them has left, if the waiter's entry is certainly admitted now. Otherwise returns `undefined`, and the waiter
 * must read the queue. New entries do not matter, because they join behind the waiter's entry.
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

/**
 * Returns only what `entriesAheadWithout` needs, because thousands of waiters may store it. If the queue was read only in part, returns only the
 * blocking entries.
 */
export function remembered<R extends Taker>(ahead: EntriesAhead<R>, rule: AdmissionRule): EntriesAhead<R> {
  const { refs, total } = ahead;
  return total === refs.length ? ahead : Object.assign({}, ahead, { refs: inTheWay(refs, rule) });
}

/** Delay in milliseconds before a hold begins to watch its own entry. Shorter holds cost no watch. */
export const OWN_UNWATCHED_MS = 250;

/**
 * Emits the turns of an entry. Watches the nearest conflicting entries ahead: as many as block the entry, at most `limit`. When one of them leaves,
 * the entry is admitted if the latest read and this removal prove it; otherwise its waiter reads the queue again. Of all entries ahead, the nearest
 * usually leave last. So a grant wakes about one waiter, and there is no thundering herd. For a lock only the predecessor is watched, as in
 * ZooKeeper's lock recipe and etcd's `concurrency.Mutex`. These two read the queue whenever the predecessor leaves. read ──admitted?──no──► one of
 * the nearest is gone ──► known, or read ──admitted?──yes──► silent until the waiter's entry is gone
 */
export function turnsByWatching<R extends Taker>(
  view: QueueView<R>,
  rule: AdmissionRule,
  first: EntriesAhead<R>,
): Observable<Turn> {
  // While the entry waits, the stream stores only what it needs later, not the whole result of the first read.
  const kept = remembered(first, rule);
  return new Observable((subscriber) => followTurns(view, { rule, first: kept }, subscriber));
}

/** Listener for the turns of an entry. After `error`, no method is called. */
export interface TurnListener {
  /** Called with each turn, including the first. */
  next(turn: Turn): void;
  /** Called with the error that ends the turns, such as the loss of the entry. */
  error(cause: unknown): void;
}

/**
 * Passes the turns of an entry to a listener, for a backend that has its own stream for them. Otherwise it is like `turnsByWatching`. Calls the
 * listener with the first turn before it returns.
 * @returns a function that ends the watch; repeated calls do nothing
 */
export function followTurns<R extends Taker>(
  view: QueueView<R>,
  { rule, first }: { readonly rule: AdmissionRule; readonly first: EntriesAhead<R> },
  listener: TurnListener,
): () => void {
  const turn = turnOf(first, rule);
  if (turn.admitted) return followHold(view, turn, listener);
  // Watches the waiter's entry before the entries ahead. If both have left during a broken connection, the
  // waiter's entry must count as lost and not as admitted.
  const turns = merge(lost(view), inLine(view, rule, remembered(first, rule))).subscribe(listener);
  return () => {
    turns.unsubscribe();
  };
}

/**
 * Passes the turn of an entry that was admitted at once to the listener, and its loss if it holds for long. Uses no stream, because every short hold
 * runs this.
 */
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

/** Emits the turns of a waiting entry, and nothing more once it is admitted. Uses no RxJS operators, because every waiter creates such a stream. */
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
          else nextStep().add(read(view, rule).subscribe({ next: stand, error }));
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

function read<R extends Taker>(view: QueueView<R>, rule: AdmissionRule): Observable<EntriesAhead<R>> {
  return askUntilDefinite(async () => remembered(await view.ahead(rule.limit), rule));
}

/**
 * Calls `request` like `repeatUntilDefinite` when subscribed, and emits its result. Errors when the failure is definite. Unsubscribing ends the
 * attempts.
 */
export function askUntilDefinite<T>(request: () => Promise<T>): Observable<T> {
  return new Observable((subscriber) => {
    const stopped = new AbortController();
    repeatUntilDefinite(request, stopped.signal).then(
      (response) => {
        subscriber.next(response);
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
