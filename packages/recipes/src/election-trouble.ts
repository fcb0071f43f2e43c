import type { Clock } from '@queuelock/core';
import { after, jsonable, pauseAfter } from '@queuelock/core/backend';
import type { ElectionTrouble } from './election-api.ts';
import { Subject, defer, ignoreElements, type Observable } from './rx.ts';

const PAUSES = { firstMs: 100, mostMs: 2_000 };

/** What is told of candidacies that failed for a time. */
export class Troubles {
  readonly #clock: Clock;
  readonly #told$ = new Subject<ElectionTrouble>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get told$(): Observable<ElectionTrouble> {
    return this.#told$.asObservable();
  }

  /** Of one candidate, whose pauses grow until it is elected. */
  ofCandidate(): CandidateTroubles {
    return new CandidateTroubles(this.#clock, (trouble) => this.#told$.next(trouble));
  }
}

/** The attempts of one candidate that have failed since it led last. */
export class CandidateTroubles {
  readonly #clock: Clock;
  readonly #tell: (trouble: ElectionTrouble) => void;
  #count = 0;

  constructor(clock: Clock, tell: (trouble: ElectionTrouble) => void) {
    this.#clock = clock;
    this.#tell = tell;
  }

  /** Tells of a failure; completes when it is time for the next attempt. */
  pause(error: unknown): Observable<never> {
    return defer(() => {
      const retryInMs = Math.round(pauseAfter(this.#count, PAUSES, this.#clock));
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
