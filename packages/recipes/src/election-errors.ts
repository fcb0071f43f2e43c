import type { Clock } from '@queuelock/core';
import { after, jsonable, backoffDelay } from '@queuelock/core/backend';
import type { ElectionErrorEvent } from './election-api.ts';
import { Subject, defer, ignoreElements, type Observable } from './rx.ts';

const PAUSES = { initialDelayMs: 100, maxDelayMs: 2_000 };

/** Emits each failure of a candidacy that is followed by another candidacy. */
export class ElectionErrors {
  readonly #clock: Clock;
  readonly #told$ = new Subject<ElectionErrorEvent>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get told$(): Observable<ElectionErrorEvent> {
    return this.#told$.asObservable();
  }

  /** Returns the error record of one candidate. Its backoff grows until the candidate is elected. */
  ofCandidate(): CandidateErrors {
    return new CandidateErrors(this.#clock, (trouble) => this.#told$.next(trouble));
  }
}

/** Failed attempts of one candidate since its last term. */
export class CandidateErrors {
  readonly #clock: Clock;
  readonly #tell: (trouble: ElectionErrorEvent) => void;
  #count = 0;

  constructor(clock: Clock, tell: (trouble: ElectionErrorEvent) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  /** Emits a failure, and completes after the backoff. */
  pause(error: unknown): Observable<never> {
    return defer(() => {
      const retryInMs = Math.round(backoffDelay(this.#count, PAUSES, this.#clock));
      this.#count += 1;
      this.#tell(jsonable({ error, retryInMs }));
      return after(this.#clock, retryInMs).pipe(ignoreElements());
    });
  }

  /** Resets the backoff, because the candidate was elected. */
  over(): void {
    this.#count = 0;
  }
}
