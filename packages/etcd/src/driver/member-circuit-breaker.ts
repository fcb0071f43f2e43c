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
// Failures are counted within this time, in milliseconds. It is twice the second after which grpc-js adds an attempt of its own to each attempt.
const WINDOW_MS = 2_000;
// After an outage of 10 s failures are counted within 3 s. So fewer attempts are made, and the end of the outage is noticed one second later.
const LASTING = { fromMs: 10_000, windowMs: 3_000 };
// Maximum number of failures within the window. Attempts at members without earlier failures are not limited.
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

/** The error of a call that the open circuit breaker did not allow. */
class CircuitOpenError extends GrpcError {}

/**
 * Circuit breaker of one member with exponential backoff. After the first failure the next call is allowed at once, unless other members
 * have failed too. Further failures start a backoff, and then one attempt at a time until one succeeds. So a client makes a few connection
 * attempts a second during an outage, however many calls it has.
 */
export class MemberCircuitBreaker {
  readonly #failures: Failures;
  /** Failures since the last success. Calls that failed together count once. */
  #failureCount = 0;
  #round = 0;
  #backoffUntil = 0;
  #trying: BreakerCall | undefined;
  #lastFailure = '';

  constructor(failures: Failures) {
    this.#failures = failures;
  }

  /** Begins a call. Throws an error that counts as `UNAVAILABLE` while the breaker is open. */
  begin(): BreakerCall {
    const round = this.#round;
    const hasFailed = this.#failureCount > 1 || (this.#failureCount === 1 && this.#failures.areAll);
    const call: BreakerCall = {
      succeeded: () => {
        this.#failureCount = 0;
        this.#trying = undefined;
        this.#failures.succeeded();
      },
      failed: (error) => {
        if (isAnswer(error)) call.succeeded();
        if (isOfConnection(error) && round === this.#round) {
          this.#failed(error);
          if (!hasFailed) this.#failures.add();
        }
        call.abandoned();
      },
      abandoned: () => {
        if (this.#trying === call) this.#trying = undefined;
      },
    };
    if (hasFailed) {
      if (this.#trying || performance.now() < this.#backoffUntil || this.#failures.areMany)
        throw new CircuitOpenError('UNAVAILABLE', `no connection; the last attempt: ${this.#lastFailure}`);
      this.#trying = call;
      this.#failures.add();
    }
    return call;
  }

  #failed({ message }: Error): void {
    this.#lastFailure = message;
    this.#round += 1;
    this.#failureCount += 1;
    // The first failure starts no backoff, since it may be the end of a connection that worked for a long time.
    if (this.#failureCount > 1)
      this.#backoffUntil = performance.now() + backoffDelay(this.#failureCount - 2, BACKOFF);
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
