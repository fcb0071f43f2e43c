import { backoffDelay } from '@queuelock/core/backend';
import { GrpcError, statusOf } from './grpc-status.ts';

/** One use of a way to a member; ends with one of these. */
export interface BreakerCall {
  /** The member has answered. */
  succeeded(): void;
  /** Without an answer, which may say something about the connection. */
  failed(error: unknown): void;
  /** Nobody knows, or cares. */
  abandoned(): void;
}

const BACKOFF = { initialDelayMs: 300, maxDelayMs: 1_500 };
// Twice the second after which grpc-js follows each attempt up with one of its own.
const WINDOW_MS = 2_000;
// In an outage that lasts what attempts cost matters more than a second by which it is seen to be over.
const LASTING = { fromMs: 10_000, windowMs: 3_000 };
// Members that were in no trouble before are tried besides.
const MAX_FAILURES = 2;
const BY_MEMBER = /etcdserver:/;

/** The failures to connect to any member of a cluster of late. An attempt at one in trouble counts from its beginning on. */
export class Failures {
  #at: number[] = [];
  #sinceSuccess = 0;
  /** When the first one after a success was. */
  #begunAt = 0;

  get areMany(): boolean {
    const now = performance.now();
    const windowMs = this.areAll && now - this.#begunAt > LASTING.fromMs ? LASTING.windowMs : WINDOW_MS;
    this.#at = this.#at.filter((at) => at > now - windowMs);
    return this.#at.length >= MAX_FAILURES;
  }

  /** Whether there were several since anybody has answered. */
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

/** It is no time to connect. */
class CircuitOpenError extends GrpcError {}

/**
 * Whether a member may be connected to now. After a failure it may, at once, unless others have failed too; after one more there is a pause, which
 * grows with the next one, and then one attempt at a time until one has worked. So a client whose servers do not serve connects a few times a second, however much it wants of them.
 */
export class MemberCircuitBreaker {
  readonly #failures: Failures;
  /** Failures without a success since, of which those that came together count once. */
  #troubles = 0;
  #round = 0;
  #pausedUntil = 0;
  #trying: BreakerCall | undefined;
  #why = '';

  constructor(failures: Failures) {
    this.#failures = failures;
  }

  /** Throws what counts as `UNAVAILABLE` when nobody should connect now. */
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
    // The first may be that of a connection that was good for long.
    if (this.#troubles > 1) this.#pausedUntil = performance.now() + backoffDelay(this.#troubles - 2, BACKOFF);
  }
}

/** Whether there is no connection, and not an answer of the member, or a silence. */
function isOfConnection(error: unknown): error is Error {
  if (!(error instanceof Error) || error instanceof CircuitOpenError) return false;
  return statusOf(error) === 'UNAVAILABLE' && !isAnswer(error);
}

function isAnswer(error: unknown): boolean {
  return error instanceof Error && BY_MEMBER.test(error.message);
}
