// Chapter entry: how does a request become an entry in the queue, and how does the entry leave?
// wish, limit: the request. entry (here): joining and leaving, despite lost responses. entry-value, own-label: the published data.

import { isDefinite, repeatUnlessStopped, repeatUntilDefinite } from '../kit/definite.ts';
import { QueueLockError, invalidArgument, isQueueLockError, type QueueLockErrorCode } from '../api/errors.ts';
import { Observable } from '../base/rx.ts';
import type { LiveSession } from '../session/session.ts';
import type { EntrySpec, Placement, Session } from '../api/spi.ts';
import { Stop } from '../base/stop.ts';

/** An entry in the queue. */
export interface Entry {
  readonly spec: EntrySpec;
  readonly placement: Placement;
  /**
   * Removes the entry. Settles when the server has confirmed it, or when the session and the entry have ended; never rejects. Repeated calls return
   * the same promise.
   */
  leave(): Promise<void>;
}

/** Join mode: `wait` in the queue, or `try` and stay only if no conflicting entry is ahead. */
type JoinMode = 'wait' | 'try';

/** Options for joining a queue. */
export interface JoinOptions {
  readonly mode: JoinMode;
  /** Receives the promise that settles when the entry has left the queue. */
  readonly leaving: (left: Promise<void>) => void;
  /** Receives the error of the last attempt, or `undefined` after a success. */
  readonly trouble: (why: unknown) => void;
  /** Replaces `session.enqueue` or `session.tryEnqueue` for one attempt. */
  readonly enqueue?: Enqueue | undefined;
}

/** Makes one attempt, like `Session.enqueue`. May reject with the reason of the aborted `stop` if nothing was sent. */
export type Enqueue = (session: Session, spec: EntrySpec, stop: AbortSignal) => Promise<Placement>;

/**
 * Joins the queue (step 2) when subscribed and emits the entry. Errors with `TIMEOUT` when a `try` found a conflicting entry ahead. Unsubscribing
 * leaves, even while the join is in flight. A join is not interrupted, since its effect would be unknown; the removal follows it.
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

/** Creates the error of a try that found the lock taken. */
function taken(queue: string): QueueLockError {
  return new QueueLockError('TIMEOUT', `${JSON.stringify(queue)} is taken (timeoutMs 0)`);
}

/** Reserves an id for one claim. If two claims shared an entry, the first to leave would remove it for both. */
function takeId({ ids }: LiveSession, { id }: EntrySpec): void {
  if (ids.has(id))
    throw invalidArgument('id', id, 'is of no other claim of this client that lives or is still leaving');
  ids.add(id);
}

/**
 * Makes the attempts to join. A waiting join is retried until it is known to have happened. A try is made once, because it needs an immediate
 * result.
 */
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
 * Repeats the removal of an entry that may be in the queue, until it is certain or the session has ended. If the server *refuses* the removal, it
 * ends the session, the only other way to free the queue.
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

/**
 * Whether no removal is needed. An invalid request did not succeed in an earlier attempt either; an entry found under its id belongs to another
 * claim.
 */
function isNotIn(error: unknown): boolean {
  return isQueueLockError(error) && NOT_IN.has(error.code);
}

const NOT_IN: ReadonlySet<QueueLockErrorCode> = new Set(['ENTRY_LOST', 'SESSION_LOST', 'INVALID_ARGUMENT']);
