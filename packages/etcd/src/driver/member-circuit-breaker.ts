import { backoffDelay } from '@queuelock/core/backend';
import { GrpcError, statusOf } from './grpc-status.ts';

/** One call under the circuit breaker. The caller reports its outcome by exactly one of these methods. */
export interface BreakerCall {
  /** Reports a response of the member. */
  succeeded(): void;
  /** Reports a failure. It counts if the error shows that there is no connection. */
  failed(error: unknown): void;
  /** Reports an outcome that shows nothing about the connection. */
  abandoned(): void;
}

const BACKOFF = { initialDelayMs: 300, maxDelayMs: 1_500 };
// Twice the second after which grpc-js adds an attempt of its own to each attempt.
const WINDOW_MS = 2_000;
// In a long outage the cost of the attempts matters more than noticing its end one second earlier.
const LASTING = { fromMs: 10_000, windowMs: 3_000 };
// Attempts at members without earlier failures are not limited by this.
const MAX_FAILURES = 2;
const BY_MEMBER = /etcdserver:/;

/** The recent failures to connect to any member of a cluster. An attempt at a member that failed before counts from its start. */
export class Failures {
  #at: number[] = [];
  #sinceSuccess = 0;
  /** The time of the first failure after a success. */
  #begunAt = 0;

  get areMany(): boolean {
    const now = performance.now();
    const windowMs = this.areAll && now - this.#begunAt > LASTING.fromMs ? LASTING.windowMs : WINDOW_MS;
    this.#at = this.#at.filter((at) => at > now - windowMs);
    return this.#at.length >= MAX_FAILURES;
  }

  /** Whether there were at least two failures since any member responded. */
  get areAll(): boolean {
    return this.#sinceSuccess >= MAX_FAILURES;
  }

  add(): void {
    const now = performance.now();
    if (this.#sinceSuccess === 0) this.#begunAt = now;
    this.#at.push(now);
    this.#sinceSuccess += 1;
  }

  succeeded(): void {
    this.#sinceSuccess = 0;
  }
}

/** The circuit breaker did not allow the call. */
class CircuitOpenError extends GrpcError {}

/**
 * Circuit breaker of one member with exponential backoff. After the first failure the next call is allowed at once, unless other members
 * have failed too. Further failures start a backoff, and then one attempt at a time until one succeeds. So a client makes a few connection
 * attempts a second during an outage, however many calls it has.
 */
export class MemberCircuitBreaker {
  readonly #failures: Failures;
  /** Failures since the last success. Calls that failed together count once. */
  #troubles = 0;
  #round = 0;
  #pausedUntil = 0;
  #trying: BreakerCall | undefined;
  #why = '';

  constructor(failures: Failures) {
    this.#failures = failures;
  }

  /** Begins a call. Throws an error that counts as `UNAVAILABLE` while the breaker is open. */
  begin(): BreakerCall {
    const round = this.#round;
    const isInTrouble = this.#troubles > 1 || (this.#troubles === 1 && this.#failures.areAll);
    const passage: BreakerCall = {
      succeeded: () => {
        this.#troubles = 0;
        this.#trying = undefined;
        this.#failures.succeeded();
      },
      failed: (error) => {
        if (isAnswer(error)) passage.succeeded();
        if (isOfConnection(error) && round === this.#round) {
          this.#failed(error);
          if (!isInTrouble) this.#failures.add();
        }
        passage.abandoned();
      },
      abandoned: () => {
        if (this.#trying === passage) this.#trying = undefined;
      },
    };
    if (isInTrouble) {
      if (this.#trying || performance.now() < this.#pausedUntil || this.#failures.areMany)
        throw new CircuitOpenError('UNAVAILABLE', `no connection; the last attempt: ${this.#why}`);
      this.#trying = passage;
      this.#failures.add();
    }
    return passage;
  }

  #failed({ message }: Error): void {
    this.#why = message;
    this.#round += 1;
    this.#troubles += 1;
    // The first failure may be the end of a connection that had worked for long.
    if (this.#troubles > 1) this.#pausedUntil = performance.now() + backoffDelay(this.#troubles - 2, BACKOFF);
  }
}

/** Returns whether the error means that there is no connection. A response of the member and a timeout do not. */
function isOfConnection(error: unknown): error is Error {
  if (!(error instanceof Error) || error instanceof CircuitOpenError) return false;
  return statusOf(error) === 'UNAVAILABLE' && !isAnswer(error);
}

function isAnswer(error: unknown): boolean {
  return error instanceof Error && BY_MEMBER.test(error.message);
}
