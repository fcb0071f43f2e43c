import type { ClaimState } from '../api/claim-state.ts';
import { traceOf, type AcquireTrace } from '../diagnostics/diagnostics.ts';
import type { ClosingListener } from '../work/closing.ts';
import { Contender, type ContenderHost } from './contender.ts';
import { Entry, type Enqueue, type EntryOwner } from '../entry/entry.ts';
import { type QueueLockError, invalidArgument } from '../api/errors.ts';
import type { Ownership } from '../api/hold-api.ts';
import type { ClaimContext } from './claim-context.ts';
import { Subscription, take, throwIfEmpty, type Observable, type Unsubscribable } from '../base/rx.ts';
import type { LiveSession } from '../session/live-session.ts';
import { JOINING, afterAttempt, closedOf, failed, inWords, type Ended } from './steps.ts';
import { WITHOUT_RESPONSE, isLimited, limitWait } from '../work/wait-limit.ts';
import { newEntryOf, type ClaimRequest } from '../entry/new-entry.ts';

/** Callbacks of an acquisition. Without `changed`, the acquisition creates no objects for its states. */
export interface ClaimListener {
  /** Called after each change of the acquisition's `state`, except the last. */
  changed?(acquisition: Acquisition): void;
  /** Called with the ownership when the hold begins. */
  held?(ownership: Ownership): void;
  /** Called once, with the last state. */
  ended(end: Ended): void;
}

/**
 * One acquisition, from the call to its end. Each of its attempts to hold is a `Contender`. It makes attempts until one has held the lock or the
 * claim ends in another way. If the session is open and the limit is fixed, it calls plain functions and subscribes to no stream. So a free lock is
 * acquired and released quickly.
 */
export class Acquisition implements ContenderHost, EntryOwner, ClosingListener, Unsubscribable {
  readonly context: ClaimContext;
  /** Publishes the acquisition's diagnostics messages. Set only if their channels have subscribers. */
  readonly trace: AcquireTrace | undefined;
  readonly #listener: ClaimListener;
  #request: ClaimRequest;
  #contender: Contender | undefined;
  #isWaiting = true;
  #isOver = false;
  #mayBeStale = true;
  #failure: unknown;
  #liftLimit: (() => void) | undefined;
  #opening: Subscription | undefined;

  constructor(context: ClaimContext, request: ClaimRequest, listener: ClaimListener) {
    this.context = context;
    this.#request = request;
    this.#listener = listener;
    this.trace = traceOf(request, context);
  }

  get state(): ClaimState {
    return this.#contender?.state ?? JOINING;
  }

  begin(): void {
    this.#listener.changed?.(this);
    // When the client begins to close, it calls `closing` of each acquisition in this set, which ends the
    // wait. `endWait` removes the acquisition from the set before the hold begins.
    if (!this.#isOver) this.context.closing.add(this);
    if (this.trace)
      this.trace.begin(() => {
        this.#start();
      });
    else this.#start();
  }

  /** Gives up the claim at any stage: leaves the queue, or releases the lock. */
  unsubscribe(): void {
    this.#isOver = true;
    this.trace?.left();
    this.#undo();
  }

  // --- Members of the acquisition that its entry calls.

  get isTry(): boolean {
    return this.#request.waitLimit.timeoutMs === 0;
  }

  get enqueue(): Enqueue | undefined {
    return this.context.enqueue;
  }

  problem(why: unknown): void {
    this.#failure = why;
    this.context.problem?.(why);
  }

  leaving(left: Promise<void>): void {
    this.context.afterwards(left);
  }

  // --- Members of the acquisition that the client calls.

  closing(why: QueueLockError): void {
    this.finish(failed(closedOf(this.#request.queue, why)));
  }

  // --- Members of the acquisition that its contender calls.

  changed(): void {
    this.#listener.changed?.(this);
  }

  /** Removes the timeout and the abort listener, which may end only the wait and not the hold. */
  endWait(): void {
    this.#liftLimit?.();
    this.#liftLimit = undefined;
    this.#isWaiting = false;
    this.context.closing.delete(this);
  }

  held(ownership: Ownership): void {
    this.#listener.held?.(ownership);
    this.#listener.changed?.(this);
  }

  /** Ends the current attempt (its `Contender`), which failed with `cause` before the hold. Then starts another attempt, or ends the claim. */
  retry(cause: unknown): void {
    this.#leave();
    const isTogether = this.enqueue !== undefined;
    const next = afterAttempt(cause, { mayBeStale: this.#mayBeStale, isTogether });
    if (next === 'end') {
      this.finish(failed(cause));
      return;
    }
    this.#mayBeStale = next === 'behind';
    if (next === 'behind') this.#request = { ...this.#request, id: undefined };
    this.#open();
  }

  finish(end: Ended): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (end.outcome === 'failed') this.trace?.failed(end.error);
    this.#listener.ended(inWords(end, this.#request, this.context.info.endpoint));
    this.#undo();
  }

  // --- The steps of an acquisition.

  #start(): void {
    if (this.#isOver) return;
    const { waitLimit, queue } = this.#request;
    if (isLimited(waitLimit)) {
      const failure = (): unknown => this.#failure ?? this.context.openingTrouble();
      const waiting = { clock: this.context.clock, what: JSON.stringify(queue), problem: failure };
      this.#liftLimit = limitWait(waitLimit, waiting, (error) => {
        this.finish(failed(error));
      });
      if (!this.#liftLimit) return;
    }
    this.#open();
  }

  /** Joins the queue with the client's session if it is open, and otherwise waits until a session is open. */
  #open(): void {
    const live = this.context.present();
    if (live) this.#enter(live);
    else
      this.#follow(this.context.session$, (opened) => {
        this.#enter(opened);
      });
  }

  /** Waits for the first value of the limit if it is a stream. Then joins the queue. */
  #enter(live: LiveSession): void {
    const { limit } = this.#request;
    if (limit.fixed !== undefined) {
      this.#join(live, limit.fixed);
      return;
    }
    const none = (): QueueLockError =>
      invalidArgument('limit', 'a stream without a value', 'has a present value');
    this.#follow(limit.now$.pipe(take(1), throwIfEmpty(none)), (now) => {
      this.#join(live, now);
    });
  }

  /** Starts an attempt: creates the entry, and the `Contender` that lets the entry join the queue. */
  #join(live: LiveSession, limit: number): void {
    const { liveness } = live;
    try {
      // The session may have ended although a late timer has not reported that yet. So this code compares its deadline with the clock.
      if (liveness.remainingMs === 0) liveness.ending.throwIfAborted();
      const typicalHoldMs = this.context.holdTimes.typical(this.#request.queue);
      const newEntry = newEntryOf(this.#request, { limit, typicalHoldMs });
      this.problem(WITHOUT_RESPONSE);
      this.#contender = new Contender(new Entry(live, newEntry, this), this.#request, this);
    } catch (cause) {
      this.retry(cause);
      return;
    }
    this.#contender.begin();
  }

  #follow<T>(source$: Observable<T>, next: (value: T) => void): void {
    const error = (cause: unknown): void => {
      this.retry(cause);
    };
    const opening = (this.#opening ??= new Subscription());
    opening.add(source$.subscribe({ next, error }));
  }

  #leave(): void {
    this.#opening?.unsubscribe();
    this.#opening = undefined;
    this.#contender?.leave();
    this.#contender = undefined;
  }

  #undo(): void {
    if (this.#isWaiting) this.endWait();
    this.#leave();
  }
}
