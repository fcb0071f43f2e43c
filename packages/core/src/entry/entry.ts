// Chapter entry: how does a wish become an entry in the queue, and how does it leave?
// wish and limit: what is asked. Here: joining and leaving, whatever becomes of an answer. entry-value, own-label: what it tells.

import { isDefinite, repeatUnlessStopped, repeatUntilDefinite } from '../kit/definite.ts';
import { QueueLockError, invalidArgument, isQueueLockError, type QueueLockErrorCode } from '../api/errors.ts';
import { Observable } from '../base/rx.ts';
import type { LiveSession } from '../session/session.ts';
import type { EntrySpec, Placement, Session } from '../api/spi.ts';
import { Stop } from '../base/stop.ts';

/** An entry that stands in the queue. */
export interface Entry {
  readonly spec: EntrySpec;
  readonly placement: Placement;
  /**
   * Takes the entry out. Settles when the server has confirmed it, or when the session has ended and the entry with
   * it; never rejects. Asking again answers the same.
   */
  leave(): Promise<void>;
}

/** How to join: `wait` in line, or `try` and stay only if nobody is ahead. */
type JoinMode = 'wait' | 'try';

/** How an entry joins, and who hears of it. */
export interface JoinOptions {
  readonly mode: JoinMode;
  /** Is handed the promise that settles when the entry is out of the queue. */
  readonly leaving: (left: Promise<void>) => void;
  /** Is told why the last attempt failed, and `undefined` when one did not. */
  readonly trouble: (why: unknown) => void;
  /** How one attempt to join is made, if not by `session.enqueue` or `session.tryEnqueue`. */
  readonly enqueue?: Enqueue | undefined;
}

/** Makes one attempt; as `Session.enqueue`. May reject with the reason of `stop`, once that has aborted, if nothing was sent. */
export type Enqueue = (session: Session, spec: EntrySpec, stop: AbortSignal) => Promise<Placement>;

/**
 * Act 2: my place. Joins the queue when subscribed and emits the entry; errors with `TIMEOUT` when a `try` found somebody
 * ahead. Unsubscribing leaves, also while the join is on its way: a join cannot be interrupted, since its effect
 * would be unknown; leaving follows it.
 */
export function enterQueue(live: LiveSession, spec: EntrySpec, options: JoinOptions): Observable<Entry> {
  return new Observable((subscriber) => {
    takeId(live, spec);
    const stop = new Stop();
    const fail = (error: unknown): void => {
      subscriber.error(error);
    };
    let isJoining = true;
    const sessionEnd = live.liveness.health$.subscribe({
      error: (error: unknown) => {
        stop.abort(error);
        subscriber.error(error);
      },
    });
    const attempts = new Attempts(live, spec, options);
    const joined = attempts.join(stop).finally(() => {
      isJoining = false;
      sessionEnd.unsubscribe();
    });
    let left: Promise<void> | undefined;
    const leave = (): Promise<void> => {
      if (left) return left;
      if (isJoining) stop.abort(new QueueLockError('CLOSED', 'the entry is not wanted any more'));
      left = joined.then(
        (placement) => takeOut(live, spec, placement !== undefined),
        (error: unknown) => takeOut(live, spec, attempts.mayBeIn && !isNotIn(error)),
      );
      options.leaving(left);
      return left;
    };
    subscriber.add(() => {
      void leave();
    });
    joined.then((placement) => {
      if (placement) subscriber.next({ spec, placement, leave });
      else fail(taken(spec.queue));
    }, fail);
  });
}

/** A try that has found somebody ahead. */
function taken(queue: string): QueueLockError {
  return new QueueLockError('TIMEOUT', `${JSON.stringify(queue)} is taken (timeoutMs 0)`);
}

/** An entry is of one claim: the first that leaves would take it from the others. */
function takeId({ ids }: LiveSession, { id }: EntrySpec): void {
  if (ids.has(id))
    throw invalidArgument('id', id, 'is of no other claim of this client that lives or is still leaving');
  ids.add(id);
}

/** Joining in line is repeated until it is known to have happened. A try is made once: it wants an answer now. */
class Attempts {
  /** Whether an attempt ended without a certain outcome. */
  mayBeIn = false;
  readonly #live: LiveSession;
  readonly #spec: EntrySpec;
  readonly #options: JoinOptions;

  constructor(live: LiveSession, spec: EntrySpec, options: JoinOptions) {
    this.#live = live;
    this.#spec = spec;
    this.#options = options;
  }

  async join(stop: Stop): Promise<Placement | undefined> {
    const { liveness } = this.#live;
    try {
      if (this.#options.mode === 'try') return await this.#once(stop);
      return await repeatUnlessStopped(() => this.#once(stop), stop);
    } catch (error) {
      if (isQueueLockError(error, 'SESSION_LOST')) liveness.end(error);
      liveness.ending.throwIfAborted();
      throw error;
    }
  }

  async #once(stop: Stop): Promise<Placement | undefined> {
    const { session } = this.#live;
    const { mode, enqueue } = this.#options;
    try {
      const placement = await (enqueue?.(session, this.#spec, stop.signal) ??
        (mode === 'try' ? session.tryEnqueue(this.#spec) : session.enqueue(this.#spec)));
      this.#options.trouble(undefined);
      return placement;
    } catch (error) {
      this.#options.trouble(error);
      if (!isDefinite(error)) this.mayBeIn = true;
      throw error;
    }
  }
}

/**
 * Repeats the removal, of one that may be in, until it is certain or the session is over. A server that *refuses* it leaves one way to
 * free the queue: to end the session.
 */
async function takeOut(
  { session, liveness, ids }: LiveSession,
  spec: EntrySpec,
  mayBeIn: boolean,
): Promise<void> {
  try {
    if (mayBeIn) await repeatUntilDefinite(() => session.remove(spec.queue, spec.id), liveness.ending);
  } catch (error) {
    liveness.endByRefusal('the server refused to remove an entry', error);
  }
  ids.delete(spec.id);
}

/** Whether there is nothing to take out. What can never succeed did not when it was tried before either; an entry that is there then is another claim's. */
function isNotIn(error: unknown): boolean {
  return isQueueLockError(error) && NOT_IN.has(error.code);
}

const NOT_IN: ReadonlySet<QueueLockErrorCode> = new Set(['ENTRY_LOST', 'SESSION_LOST', 'INVALID_ARGUMENT']);
