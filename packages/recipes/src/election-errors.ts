import type { Clock } from '@queuelock/core';
import { after, jsonable, backoffDelay } from '@queuelock/core/backend';
import type { ElectionErrorEvent } from './election-api.ts';
import { Subject, defer, ignoreElements, type Observable } from './rx.ts';

const PAUSES = { initialDelayMs: 100, maxDelayMs: 2_000 };

/** What is told of candidacies that failed for a time. */
export class ElectionErrors {
  readonly #clock: Clock;
  readonly #told$ = new Subject<ElectionErrorEvent>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get told$(): Observable<ElectionErrorEvent> {
    return this.#told$.asObservable();
  }

  /** Of one candidate, whose pauses grow until it is elected. */
  ofCandidate(): CandidateErrors {
    return new CandidateErrors(this.#clock, (trouble) => this.#told$.next(trouble));
  }
}

/** The attempts of one candidate that have failed since it led last. */
export class CandidateErrors {
  readonly #clock: Clock;
  readonly #tell: (trouble: ElectionErrorEvent) => void;
  #count = 0;

  constructor(clock: Clock, tell: (trouble: ElectionErrorEvent) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  /** Tells of a failure; completes when it is time for the next attempt. */
  pause(error: unknown): Observable<never> {
    return defer(() => {
      const retryInMs = Math.round(backoffDelay(this.#count, PAUSES, this.#clock));
      this.#count += 1;
      this.#tell(jsonable({ error, retryInMs }));
      return after(this.#clock, retryInMs).pipe(ignoreElements());
    });
  }

  /** It was elected. */
  over(): void {
    this.#count = 0;
  }
}
