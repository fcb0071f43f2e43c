import type { Clock } from '@queuelock/core';
import { after, jsonable, backoffDelay } from '@queuelock/core/backend';
import type { ElectionErrorEvent } from './election-api.ts';
import { Subject, defer, ignoreElements, type Observable } from './rx.ts';

const PAUSES = { initialDelayMs: 100, maxDelayMs: 2_000 };

/** Emits each failure of a candidacy that is followed by another candidacy. */
export class ElectionErrors {
  readonly #clock: Clock;
  readonly #emitted$ = new Subject<ElectionErrorEvent>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get emitted$(): Observable<ElectionErrorEvent> {
    return this.#emitted$.asObservable();
  }

  /**
   * Returns a new record of failures for one candidate. The backoff grows with each failure until the
   * candidate is elected.
   */
  ofCandidate(): CandidateErrors {
    return new CandidateErrors(this.#clock, (failure) => this.#emitted$.next(failure));
  }
}

/** Counts the failed candidacies of one candidate since it last led. */
export class CandidateErrors {
  readonly #clock: Clock;
  readonly #tell: (failure: ElectionErrorEvent) => void;
  #count = 0;

  constructor(clock: Clock, tell: (failure: ElectionErrorEvent) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  /** Emits the failure to `errors$`, and completes after the backoff. */
  pause(error: unknown): Observable<never> {
    return defer(() => {
      const retryInMs = Math.round(backoffDelay(this.#count, PAUSES, this.#clock));
      this.#count += 1;
      this.#tell(jsonable({ error, retryInMs }));
      return after(this.#clock, retryInMs).pipe(ignoreElements());
    });
  }

  /** Resets the backoff of the candidate. Called after the candidate was elected. */
  over(): void {
    this.#count = 0;
  }
}
