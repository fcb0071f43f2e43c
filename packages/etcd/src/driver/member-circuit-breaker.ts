import { backoffDelay } from '@queuelock/core/backend';
import { GrpcError, statusOf } from './grpc-status.ts';

/** One call that the circuit breaker has allowed. The caller reports its outcome by exactly one of these methods. */
export interface BreakerCall {
  /** Reports that the call got a response from the member. */
  succeeded(): void;
  /** Reports that the call failed. The breaker counts the failure only if the error shows that there is no connection. */
  failed(error: unknown): void;
  /** Reports that the call ended without showing whether the connection to the member works. */
  abandoned(): void;
}

const BACKOFF = { initialDelayMs: 300, maxDelayMs: 1_500 };
// The circuit breakers count the failed attempts to connect within the last 2,000 ms. In that time, grpc-js itself makes two more attempts.
const WINDOW_MS = 2_000;
// In an outage that has lasted for 10 s, the circuit breakers count the failures of the last 3 s instead of 2 s. So the client makes fewer attempts,
// and notices the end of the outage up to a second later.
const LASTING = { fromMs: 10_000, windowMs: 3_000 };
// Maximum number of failed attempts to connect within the counted time. When it is reached, no further attempts are allowed, except to members that
// have not failed.
const MAX_FAILURES = 2;
const BY_MEMBER = /etcdserver:/;

/**
 * The recent failed attempts to connect to any member of a cluster. An attempt to connect to a member that has failed before is counted when it
 * starts. Any other attempt is counted when it fails.
 */
export class Failures {
  #at: number[] = [];
  #sinceSuccess = 0;
  /** The time of the first failed attempt to connect since a member last responded. */
  #begunAt = 0;

  get areMany(): boolean {
    const now = performance.now();
    const windowMs = this.areAll && now - this.#begunAt > LASTING.fromMs ? LASTING.windowMs : WINDOW_MS;
    this.#at = this.#at.filter((at) => at > now - windowMs);
    return this.#at.length >= MAX_FAILURES;
  }

  /** Whether at least two attempts to connect to members have failed since any member last responded. */
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

/** The error of a call that was rejected because the circuit breaker is open. */
class CircuitOpenError extends GrpcError {}

/**
 * Circuit breaker of one member, with exponential backoff. After the first failure the next call is allowed at once, unless other members
 * have failed too. After further failures it waits for a backoff, and then allows one attempt at a time until one succeeds. So during an
 * outage a client makes a few attempts a second, however many calls it has.
 */
export class MemberCircuitBreaker {
  readonly #failures: Failures;
  /** Number of failed calls to the member since its last response. Failures of calls that were in flight together count as one. */
  #failureCount = 0;
  #round = 0;
  #backoffUntil = 0;
  #trying: BreakerCall | undefined;
  #lastFailure = '';

  constructor(failures: Failures) {
    this.#failures = failures;
  }

  /** Starts a call to the member. Throws an error with the status `UNAVAILABLE` while the breaker is open. */
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
        if (isResponse(error)) call.succeeded();
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
    // The first failure of a member starts no backoff: it may be the end of a connection that worked for a long time.
    if (this.#failureCount > 1)
      this.#backoffUntil = performance.now() + backoffDelay(this.#failureCount - 2, BACKOFF);
  }
}

/**
 * Returns whether the error means that there is no connection. An error that the member returned does not mean that, nor does a timeout.
 */
function isOfConnection(error: unknown): error is Error {
  if (!(error instanceof Error) || error instanceof CircuitOpenError) return false;
  return statusOf(error) === 'UNAVAILABLE' && !isResponse(error);
}

function isResponse(error: unknown): boolean {
  return error instanceof Error && BY_MEMBER.test(error.message);
}
