import type { Clock } from '../base/clock.ts';
import { QueueLockError, detailOf, isQueueLockError } from '../api/errors.ts';
import { BehaviorSubject, Subject, type Observable } from '../base/rx.ts';

/** What is known of a session that has not ended. */
export type Health = 'alive' | 'suspect';

/**
 * Whether a session may be believed in, at this very moment. Every question compares the clock with the deadline, so the
 * answer is right when timers are late; the end is told synchronously, before the question is answered.
 */
export class Liveness {
  readonly #clock: Clock;
  readonly #endpoint: string;
  readonly #health$ = new BehaviorSubject<Health>('alive');
  readonly #proofs$ = new Subject<void>();
  readonly #wanted$ = new Subject<void>();
  readonly #ending = new AbortController();
  #deadline: number;
  #trouble: unknown;
  #ended: QueueLockError | undefined;
  #cancelAlarm: () => void;

  /** @param endpoint whom the session is with, for messages */
  constructor(clock: Clock, deadline: number, endpoint: string) {
    this.#clock = clock;
    this.#endpoint = endpoint;
    this.#deadline = deadline;
    this.#cancelAlarm = this.#setAlarm();
  }

  /** The present health first; errors when the session has ended, with `SESSION_LOST` or `CLOSED`. */
  get health$(): Observable<Health> {
    return this.#health$;
  }

  /** What `health$` says, now. */
  get isAlive(): boolean {
    return !this.#ended && this.#health$.value === 'alive';
  }

  /** Why it is in doubt; `undefined` when it is not. */
  get trouble(): QueueLockError | undefined {
    if (this.#ended || this.#health$.value === 'alive') return undefined;
    const cause = this.#trouble;
    const detail = cause === undefined ? 'no heartbeat is confirmed' : detailOf(cause);
    return new QueueLockError('UNAVAILABLE', `the session at ${this.#endpoint} is in doubt: ${detail}`, {
      cause,
    });
  }

  /** Emits whenever a heartbeat was confirmed. */
  get proofs$(): Observable<void> {
    return this.#proofs$;
  }

  /** Emits when somebody needs more time than is proven now; whoever beats does so at once. */
  get wanted$(): Observable<void> {
    return this.#wanted$;
  }

  /** Asks for a heartbeat now instead of when the next is due. */
  wantProof(): void {
    this.#wanted$.next();
  }

  /** Aborts when the session has ended. */
  get ending(): AbortSignal {
    return this.#ending.signal;
  }

  /** Milliseconds left of what is proven; 0 when the session has ended. */
  get remainingMs(): number {
    if (this.#ended) return 0;
    const left = this.#deadline - this.#clock.now();
    if (left > 0) return left;
    this.end(this.#tooLate());
    return 0;
  }

  /** A heartbeat was confirmed. A late or older one never takes back what is proven, nor revives what has ended. */
  prove(deadline: number): void {
    if (this.remainingMs === 0) return;
    this.#deadline = Math.max(this.#deadline, deadline);
    if (this.remainingMs > 0) this.#confirmed();
  }

  /** A heartbeat is overdue, or the connection is in trouble; `why`, if that is known. */
  doubt(why?: unknown): void {
    this.#trouble = why ?? this.#trouble;
    if (this.remainingMs > 0) this.#tell('suspect');
  }

  /** The session is over. Only the first end counts. */
  end(error: QueueLockError): void {
    if (this.#ended) return;
    this.#ended = error;
    this.#cancelAlarm();
    this.#ending.abort(error);
    this.#health$.error(error);
  }

  /**
   * Ends the session because the store refused a removal, which leaves no other way to free the queue.
   * @param why says what was refused, for the message
   */
  endByRefusal(why: string, error: unknown): void {
    const isOver = isQueueLockError(error, 'SESSION_LOST');
    const message = `${why}: ${detailOf(error)}`;
    this.end(
      isOver ? error : new QueueLockError('SESSION_LOST', message, { cause: error, reason: 'session-lost' }),
    );
  }

  #tooLate(): QueueLockError {
    const cause = this.#trouble;
    const detail = cause === undefined ? '' : `; the last one failed: ${detailOf(cause)}`;
    return new QueueLockError(
      'SESSION_LOST',
      `no heartbeat was confirmed in time at ${this.#endpoint}: the server may have freed the session${detail}`,
      { reason: 'heartbeat-timeout', ...(cause === undefined ? {} : { cause }) },
    );
  }

  #confirmed(): void {
    this.#trouble = undefined;
    this.#tell('alive');
    this.#proofs$.next();
  }

  #tell(health: Health): void {
    if (this.#health$.value !== health) this.#health$.next(health);
  }

  #setAlarm(): () => void {
    return this.#clock.after(Math.max(0, this.#deadline - this.#clock.now()), () => {
      if (this.remainingMs > 0) this.#cancelAlarm = this.#setAlarm();
    });
  }
}
