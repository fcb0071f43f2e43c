import type { Clock } from '../base/clock.ts';
import { QueueLockError, detailOf, isQueueLockError } from '../api/errors.ts';
import { BehaviorSubject, Subject, type Observable } from '../base/rx.ts';

/** Health of a session that has not ended. */
export type Health = 'alive' | 'suspect';

/**
 * A claim that the session notifies. The session calls it directly, because a subscription would cost more time than the rest of a claim that never
 * waits.
 */
export interface LivenessListener {
  /** Called after each change of `Liveness.isAlive`. */
  healthChanged(): void;
  /** Called once, when the session has ended. */
  sessionEnded(error: QueueLockError): void;
}

/** Heartbeat proofs of the heartbeat thread, which `Liveness` includes in the deadline. */
export interface OtherProofs {
  /** The deadline until which the session is proven; 0 if none is. */
  readonly deadline: number;
  /** Whether the session has ended on the server. */
  readonly isLost: boolean;
  /** Records a deadline that a heartbeat of this thread has proven. */
  noteProof(deadline: number): void;
}

/**
 * Tracks whether a session is proven to be alive. Every read compares the clock with the deadline, so it is correct even when timers are late. The
 * end is emitted synchronously, before the read returns.
 */
export class Liveness {
  readonly #clock: Clock;
  readonly #endpoint: string;
  readonly #health$ = new BehaviorSubject<Health>('alive');
  #health: Health = 'alive';
  readonly #proofs$ = new Subject<void>();
  readonly #wanted$ = new Subject<void>();
  readonly #ending = new AbortController();
  readonly #listeners = new Set<LivenessListener>();
  #deadline: number;
  #others: OtherProofs | undefined;
  #failure: unknown;
  #ended: QueueLockError | undefined;
  #cancelAlarm: () => void;

  /**
   * @param endpoint the server's address, for messages
   */
  constructor(clock: Clock, deadline: number, endpoint: string) {
    this.#clock = clock;
    this.#endpoint = endpoint;
    this.#deadline = deadline;
    this.#cancelAlarm = this.#setAlarm();
  }

  /** Emits the current health first, then changes. Errors when the session has ended, with `SESSION_LOST` or `CLOSED`. */
  get health$(): Observable<Health> {
    return this.#health$;
  }

  /** Whether the session has not ended and is not suspect. */
  get isAlive(): boolean {
    return !this.#ended && this.#health === 'alive';
  }

  /** Returns why the session is suspect, or `undefined` when it is not. */
  get problem(): QueueLockError | undefined {
    if (this.#ended || this.#health === 'alive') return undefined;
    const cause = this.#failure;
    const detail = cause === undefined ? 'no heartbeat is confirmed' : detailOf(cause);
    return new QueueLockError('UNAVAILABLE', `the session at ${this.#endpoint} is suspect: ${detail}`, {
      cause,
    });
  }

  /** Registers a listener until `delete` or the end of the session; notifies it at once if the session has ended. */
  add(listener: LivenessListener): void {
    if (this.#ended) listener.sessionEnded(this.#ended);
    else this.#listeners.add(listener);
  }

  delete(listener: LivenessListener): void {
    this.#listeners.delete(listener);
  }

  /** Emits whenever a heartbeat was confirmed. */
  get proofs$(): Observable<void> {
    return this.#proofs$;
  }

  /** Emits when a claim needs more time than is proven now; the heartbeat loop then sends a heartbeat at once. */
  get wanted$(): Observable<void> {
    return this.#wanted$;
  }

  /** Requests a heartbeat now instead of at the next interval. */
  wantProof(): void {
    this.#wanted$.next();
  }

  /** Signal that aborts when the session has ended. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /** Whether the session has ended, as far as it is known without a read of the clock. */
  get hasEnded(): boolean {
    return this.#ended !== undefined;
  }

  /** Remaining proven time in milliseconds; 0 when the session has ended. */
  get remainingMs(): number {
    return this.remainingMsAt(this.#clock.now());
  }

  /** Returns the remaining proven time in milliseconds. `now` is the time of the session's clock, which the caller has just read. */
  remainingMsAt(now: number): number {
    if (this.#ended) return 0;
    if (this.#others && !this.#count(this.#others)) return 0;
    const left = this.#deadline - now;
    if (left > 0) return left;
    this.end(this.#tooLate());
    return 0;
  }

  /** Includes the heartbeats of another thread in the deadline from now on. */
  addProofs(others: OtherProofs): void {
    this.#others = others;
  }

  /** Records a confirmed heartbeat. A heartbeat that is confirmed late never shortens the proven time, and never revives an ended session. */
  prove(deadline: number): void {
    if (this.remainingMs === 0) return;
    this.#deadline = Math.max(this.#deadline, deadline);
    this.#others?.noteProof(this.#deadline);
    if (this.remainingMs > 0) this.#confirmed();
  }

  /**
   * Marks the session as suspect, because a heartbeat is overdue or the connection fails.
   * @param why the cause, if known
   */
  doubt(why?: unknown): void {
    this.#failure = why ?? this.#failure;
    if (this.remainingMs > 0) this.#tell('suspect');
  }

  /** Ends the session. Later calls do nothing. */
  end(error: QueueLockError): void {
    if (this.#ended) return;
    this.#ended = error;
    this.#cancelAlarm();
    this.#ending.abort(error);
    this.#health$.error(error);
    this.#tellListeners(error);
  }

  /**
   * Ends the session because the store refused a removal, which leaves no other way to free the queue.
   * @param why what was refused, for the message
   */
  endByRefusal(why: string, error: unknown): void {
    const isOver = isQueueLockError(error, 'SESSION_LOST');
    const message = `${why}: ${detailOf(error)}`;
    this.end(
      isOver ? error : new QueueLockError('SESSION_LOST', message, { cause: error, reason: 'session-lost' }),
    );
  }

  /**
   * Notifies all listeners of the end of the session. Skips a listener that another one deletes meanwhile. A listener that is added meanwhile is not in
   * the list, but `add` has notified it.
   */
  #tellListeners(error: QueueLockError): void {
    for (const listener of [...this.#listeners])
      if (this.#listeners.delete(listener)) listener.sessionEnded(error);
  }

  /** Includes the deadline that heartbeats of another thread have proven. Returns whether the session may still exist. */
  #count(others: OtherProofs): boolean {
    if (others.deadline > this.#deadline) this.#deadline = others.deadline;
    if (others.isLost) this.end(endedMeanwhile());
    return !others.isLost;
  }

  #tooLate(): QueueLockError {
    const cause = this.#failure;
    const detail = cause === undefined ? '' : `; the last one failed: ${detailOf(cause)}`;
    return new QueueLockError(
      'SESSION_LOST',
      `no heartbeat was confirmed in time at ${this.#endpoint}: the server may have freed the session${detail}`,
      { reason: 'heartbeat-timeout', ...(cause === undefined ? {} : { cause }) },
    );
  }

  #confirmed(): void {
    this.#failure = undefined;
    this.#tell('alive');
    this.#proofs$.next();
  }

  #tell(health: Health): void {
    if (this.#health === health) return;
    this.#health = health;
    this.#health$.next(health);
    for (const listener of [...this.#listeners]) listener.healthChanged();
  }

  #setAlarm(): () => void {
    return this.#clock.after(Math.max(0, this.#deadline - this.#clock.now()), () => {
      if (this.remainingMs > 0) this.#cancelAlarm = this.#setAlarm();
    });
  }
}

function endedMeanwhile(): QueueLockError {
  const message = 'the store ended the session; the heartbeat thread found it while this thread was blocked';
  return new QueueLockError('SESSION_LOST', message, { reason: 'session-lost' });
}
