import type { DeadlineQueue, TimedTask } from '../kit/deadline-queue.ts';
import { QueueLockError } from '../api/errors.ts';
import { Observable, type Subscribable, type Unsubscribable } from '../base/rx.ts';
import type { Turn } from '../api/spi.ts';
import {
  askUntilDefinite,
  entriesAheadWithout,
  inTheWay,
  remembered,
  turnOf,
  type AdmissionRule,
  type Departure,
  type EntriesAhead,
  type Taker,
} from './watch-kit.ts';

/**
 * The functions with which one entry reads and watches its queue, on a store that does not decide itself which entries are admitted. Each returned
 * source gets one subscriber. It is an Observable, or, on a store with thousands of waiters, an object that takes less memory.
 */
export interface QueueView<R> {
  /** Reads the nearest `count` conflicting entries ahead. Rejects with `ENTRY_LOST` when the queue does not contain this entry. */
  ahead(count: number): Promise<EntriesAhead<R>>;
  /**
   * Emits once when the entry `ref` has left the queue, even if it left before the subscription. Emits `undefined` when `ref` may have stopped
   * blocking this entry for another reason. Continues after a broken connection.
   */
  removal(ref: R): Subscribable<Departure | undefined>;
  /** Emits once when this entry has left the queue. For an entry that was admitted at once, the watch starts later; see `OWN_UNWATCHED_MS`. */
  ownRemoval(): Subscribable<unknown>;
  /** Runs the timeouts of `OWN_UNWATCHED_MS` for all holds of a session with one timer. Without it, each hold starts its own timer. */
  readonly unwatched?: DeadlineQueue | undefined;
}

/** Holds that are shorter than this, in milliseconds, do not watch their own entry. */
export const OWN_UNWATCHED_MS = 250;

/**
 * Emits the turns of an entry. Watches the nearest conflicting entries ahead: as many as block the entry, at most `limit`. When one of them leaves,
 * the entry is admitted if the known data suffices; otherwise its waiter reads the queue again. Of all entries ahead, the nearest usually leave last.
 * So a grant wakes about one waiter, and there is no thundering herd. For a lock only the predecessor is watched, as in ZooKeeper's lock recipe and
 * etcd's `concurrency.Mutex`. Those read the queue whenever the predecessor leaves.
 *     read ──admitted?──no──► one of the nearest is gone ──► known, or read ──admitted?──yes──► silent until the waiter's entry is gone
 */
export function turnsByWatching<R extends Taker>(
  view: QueueView<R>,
  rule: AdmissionRule,
  first: EntriesAhead<R>,
): Observable<Turn> {
  // Keeps only the entries ahead that the waiter needs while it waits, and not all rows that the first read has returned.
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
 * Passes the turns of an entry to a listener. It is `turnsByWatching` without the Observable, for a backend that creates its own. Calls the listener
 * with the first turn before it returns.
 * @returns the watch, whose `unsubscribe` ends it
 */
export function followTurns<R extends Taker>(
  view: QueueView<R>,
  { rule, first }: { readonly rule: AdmissionRule; readonly first: EntriesAhead<R> },
  listener: TurnListener,
): Unsubscribable {
  const watch = new TurnWatch(view, rule, listener);
  watch.begin(first);
  return watch;
}

const NONE: readonly Blocker<never>[] = [];

/**
 * The watch of one entry that waits or holds. It consists of plain objects without RxJS operators and closures, since thousands of waiters have one
 * each, and every short hold creates one.
 */
class TurnWatch<R extends Taker> implements TimedTask, Unsubscribable {
  readonly #view: QueueView<R>;
  readonly #rule: AdmissionRule;
  readonly #listener: TurnListener;
  #ahead: EntriesAhead<R> | undefined;
  /** The watches of the entries ahead that block this entry. */
  #blockers: readonly Blocker<R>[] = NONE;
  #reading: Unsubscribable | undefined;
  /** The watch of the entry itself. */
  #own: Unsubscribable | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  constructor(view: QueueView<R>, rule: AdmissionRule, listener: TurnListener) {
    this.#view = view;
    this.#rule = rule;
    this.#listener = listener;
  }

  begin(first: EntriesAhead<R>): void {
    const turn = turnOf(first, this.#rule);
    if (turn.admitted) {
      this.#listener.next(turn);
      if (!this.#isOver) this.#watchOwnLater();
      return;
    }
    // Watches the waiter's own entry before the entries ahead. If both were removed during a broken connection, the waiter must report a loss, not an
    // admission.
    this.timedOut();
    if (!this.#isOver) this.#stand(remembered(first, this.#rule));
  }

  unsubscribe(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#view.unwatched?.cancel(this);
    clearTimeout(this.#timer);
    this.#own?.unsubscribe();
    this.#endStep();
  }

  /** Watches the entry itself. For an entry that was admitted at once, this is called only when its hold has lasted for a while. */
  timedOut(): void {
    try {
      const own = this.#view.ownRemoval().subscribe(this);
      if (this.#isOver) own.unsubscribe();
      else this.#own = own;
    } catch (cause) {
      // Timers call this method, so an exception would reach no caller, and the hold would stay unwatched.
      this.error(cause);
    }
  }

  /** Called when the entry itself was removed. */
  next(): void {
    this.error(new QueueLockError('ENTRY_LOST', 'the entry was removed by another client'));
  }

  error(cause: unknown): void {
    if (this.#isOver) return;
    this.unsubscribe();
    this.#listener.error(cause);
  }

  /** Called when the blocking entry `ref` has left the queue, or may no longer block this entry. */
  left(ref: R, departure: Departure | undefined): void {
    const ahead = this.#ahead as EntriesAhead<R>;
    const known = departure && entriesAheadWithout(ahead, { ref, ...departure }, this.#rule);
    if (known) this.#stand(known);
    else this.#readAgain();
  }

  /** Reports the turn, and watches the entries that block this one. Once the entry is admitted, there are none. */
  #stand(ahead: EntriesAhead<R>): void {
    this.#endStep();
    this.#ahead = ahead;
    const blockers = inTheWay(ahead.refs, this.#rule).map((ref) => new Blocker(this, ref));
    this.#blockers = blockers;
    this.#listener.next(turnOf(ahead, this.#rule));
    // The listener may have ended the watch, and one of the blocking entries may have left already. Then the other watches must not begin.
    for (const blocker of blockers) if (this.#blockers === blockers) blocker.begin(this.#view);
  }

  #readAgain(): void {
    this.#endStep();
    const next = (ahead: EntriesAhead<R>): void => {
      this.#stand(remembered(ahead, this.#rule));
    };
    const error = (cause: unknown): void => {
      this.error(cause);
    };
    this.#reading = askUntilDefinite(() => this.#view.ahead(this.#rule.limit)).subscribe({ next, error });
  }

  #endStep(): void {
    for (const blocker of this.#blockers) blocker.unsubscribe();
    this.#blockers = NONE;
    this.#reading?.unsubscribe();
    this.#reading = undefined;
  }

  #watchOwnLater(): void {
    const { unwatched } = this.#view;
    if (unwatched) unwatched.start(this);
    else
      this.#timer = setTimeout(() => {
        this.timedOut();
      }, OWN_UNWATCHED_MS);
  }
}

/** The watch of an entry ahead that blocks a waiter. */
class Blocker<R extends Taker> implements Unsubscribable {
  readonly #waiter: TurnWatch<R>;
  readonly #ref: R;
  #watch: Unsubscribable | undefined;
  #isOver = false;

  constructor(waiter: TurnWatch<R>, ref: R) {
    this.#waiter = waiter;
    this.#ref = ref;
  }

  begin(view: QueueView<R>): void {
    try {
      const watch = view.removal(this.#ref).subscribe(this);
      if (this.#isOver) watch.unsubscribe();
      else this.#watch = watch;
    } catch (cause) {
      // The caller may be a notification or a finished read, which cannot handle an exception. The watch of the waiter's own entry would stay.
      this.error(cause);
    }
  }

  next(departure: Departure | undefined): void {
    if (!this.#isOver) this.#waiter.left(this.#ref, departure);
  }

  error(cause: unknown): void {
    if (!this.#isOver) this.#waiter.error(cause);
  }

  unsubscribe(): void {
    this.#isOver = true;
    this.#watch?.unsubscribe();
  }
}
