import type { Clock, SessionState } from '@queuelock/core';
import type { Observable } from 'rxjs';

/** Settings of `healthOf`. */
export interface HealthOptions {
  /**
   * How long the session may be `opening`, `suspect` or `lost` before the process counts as not ready, in
   * milliseconds. Default 0: at once.
   */
  readonly unreadyAfterMs?: number;
  /** Source of time, for tests. Default: the machine's monotonic clock. */
  readonly clock?: Clock;
}

/** A reason why a process is not live or not ready. */
export interface HealthProblem {
  /**
   * The failed check. `session`: the session is not proven; see `HealthState.session`. `work`: a check-in is
   * overdue. `draining`: `drain` was called.
   */
  readonly check: 'session' | 'work' | 'draining';
  /** One sentence for people. It contains no addresses and no text from other programs. */
  readonly text: string;
}

/** The result for one probe, liveness or readiness. */
export interface HealthResult {
  readonly ok: boolean;
  /** The reasons for a failure; empty when `ok`. */
  readonly problems: readonly HealthProblem[];
}

/** Liveness and readiness at one moment. */
export interface HealthState {
  /**
   * Fails only when a restart of the process would help: when supervised work has not checked in within its
   * time limit.
   */
  readonly live: HealthResult;
  /**
   * Fails while the process should get no new requests: while its session is not proven, while it drains, or
   * when it is not live.
   */
  readonly ready: HealthResult;
  readonly session: SessionState['status'];
}

/** Reports that supervised work makes progress. */
export type CheckIn = () => void;

/** Settings of supervised work. */
export interface SupervisionOptions {
  /** Longest time between two check-ins, in milliseconds. The start of the work counts as a check-in. */
  readonly checkInWithinMs: number;
}

/** Liveness and readiness of a process that uses a lock client; made by `healthOf`. */
export interface Health {
  /**
   * Returns the state as of now. It compares the time limits with the clock, so it is correct even after a
   * blocked event loop.
   */
  now(): HealthState;
  /**
   * Emits the state: at once, then after each change of one of its results. All subscribers get the same state. Completes when the client is
   * closed; never errors.
   */
  readonly state$: Observable<HealthState>;
  /**
   * Runs work that must call `checkIn` at least every `checkInWithinMs`, for instance the work of a leader. When a check-in is overdue,
   * liveness fails until the next check-in or the end of the work. It does not stop the work.
   * @param name of the work, for messages
   * @returns the outcome of the work
   * @throws the error of the work; `INVALID_ARGUMENT` for a `checkInWithinMs` that is not a number of milliseconds from 1 up
   */
  supervise<T>(
    name: string,
    work: (checkIn: CheckIn) => T | PromiseLike<T>,
    options: SupervisionOptions,
  ): Promise<Awaited<T>>;
  /** Makes the process unready from now on. Call it first when the process is to end. Repeated calls do nothing. */
  drain(): void;
}
