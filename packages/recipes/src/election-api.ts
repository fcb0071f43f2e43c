import type { ClaimOptions, Clock, Ownership, QueueLockError, WorkOptions } from '@queuelock/core';
import type { Observable } from 'rxjs';

/** Settings of an election: the candidate's value, and the entry of an earlier process. */
export interface ElectionOptions {
  /**
   * Value of this candidate that all observers see, for instance its address. It is stored when the candidate
   * joins, so it is visible as soon as the candidate leads. At most 1,024 bytes of UTF-8. Never put secrets
   * here.
   */
  readonly value: string;
  /**
   * The `Leadership.id` of an earlier process whose session the client resumes (`LockClientOptions.resume`).
   * The first candidacy of this election takes over that entry and publishes the `value` given here. If the
   * session has ended or the entry was removed, the candidate joins at the end of the queue.
   */
  readonly id?: string;
  /** Source of time for the backoff between attempts, for tests. Default: the machine's monotonic clock. */
  readonly clock?: Clock;
}

/** Settings of one campaign; see `ClaimOptions`. */
export type CampaignOptions = Pick<ClaimOptions, 'signal' | 'timeoutMs' | 'minRemainingMs'>;

/** Settings of `Election.lead`. */
export interface LeadOptions
  extends Pick<ClaimOptions, 'minRemainingMs'>, Pick<WorkOptions, 'workTimeoutMs'> {
  /** Ends `lead`: withdraws the candidate, or aborts the `stop` signal of the work and waits until the work has ended. */
  readonly signal: AbortSignal;
  /**
   * Called after each term, whatever its outcome: after the work has ended and the resignation is confirmed, and before the next campaign.
   * If it throws, `lead` rejects with that error. After the outcome `failed`, `lead` rejects with the error of the work in any case.
   */
  readonly onEnd?: (end: TermEnd) => void;
}

/** How one term of `lead` ended. A term lasts from an election to the resignation or loss. */
export type TermEnd =
  | { readonly outcome: 'resigned' }
  /**
   * The term ended by a loss. `error` is `OWNERSHIP_LOST`. Its `cause` is the error of the work, if the work
   * threw an error of its own.
   */
  | { readonly outcome: 'lost'; readonly error: QueueLockError }
  /**
   * `WORK_TIMEOUT`: the work ran longer than `workTimeoutMs` and threw. Its `cause` is the error of the work, if the work threw an error of
   * its own.
   */
  | { readonly outcome: 'timed-out'; readonly error: QueueLockError }
  /** The work threw while it led. `lead` ends and rejects with this error. */
  | { readonly outcome: 'failed'; readonly error: unknown };

/** The event that a candidacy of `lead` or `candidacy$` has failed and another one follows. */
export interface ElectionErrorEvent {
  /**
   * The error of the candidacy. Most often a `QueueLockError`: `UNAVAILABLE` while the server cannot be reached, `NOT_ENOUGH_TIME` when it responds
   * late.
   */
  readonly error: unknown;
  /** Time until the next candidacy begins, in milliseconds. */
  readonly retryInMs: number;
}

/** The right to act as the leader, as long as `held` is `true`. */
export interface Leadership
  extends
    Pick<
      Ownership,
      'name' | 'id' | 'key' | 'order' | 'token' | 'signal' | 'held' | 'remainingMs' | 'throwIfLost'
    >,
    AsyncDisposable {
  /** The value of this leader as the server last confirmed it. */
  readonly value: string;
  /**
   * Publishes another value. Retries until the outcome is certain. Concurrent calls run one after the other.
   * The call never changes the entry of another candidate.
   * @throws {QueueLockError} `OWNERSHIP_LOST` when this leadership has ended
   */
  readonly proclaim: (value: string) => Promise<void>;
  /**
   * Ends the leadership, so that the next candidate leads. Resolves like `Ownership.release`. Further calls
   * return the same outcome.
   */
  readonly resign: () => Promise<void>;
}

/** A candidate, as all observers see it. */
export interface Candidate {
  /** The value as it is stored, possibly by a program in another language. */
  readonly value: string;
  readonly key: string;
  readonly order: bigint;
  /** Id of the entry; see `QueueEntry.id`. `undefined` for an entry whose format stores only a value. */
  readonly id?: string;
}

/** The leader as far as this client knows. */
export interface LeaderState {
  /**
   * `connecting` until the first response. `stale` while the server cannot be reached: then `leader` is the
   * last known one.
   */
  readonly status: 'connecting' | 'live' | 'stale';
  /** The leader; `undefined` when no candidate is known. */
  readonly leader: Candidate | undefined;
}

/** The candidates as far as this client knows; `status` as in `LeaderState`. */
export interface CandidatesState {
  readonly status: LeaderState['status'];
  /** The candidates in the order in which they will lead. The first candidate leads. */
  readonly candidates: readonly Candidate[];
}

/**
 * An election under one name; made by `election`. Its candidates wait in one queue. `campaign`, `lead` and
 * `candidacy$` create candidates. The other streams only observe: subscribing to them creates no candidate.
 */
export interface Election {
  readonly name: string;
  /** Creates a candidate, waits, and resolves when it is elected. Each call is a candidate of its own. Rejects like `LockClient.acquire`. */
  campaign(options?: CampaignOptions): Promise<Leadership>;
  /**
   * Leads again and again: campaigns, runs the work, resigns, and campaigns again at the end of the queue. The next campaign begins after
   * the work has returned, after a loss, and after a campaign that failed with an error that may pass. `errors$` emits such errors, and a
   * backoff of 0.1 to 2 s follows each. Two works of one call never overlap: after a loss, `lead` waits until the work has ended.
   *
   * The work should last as long as it leads, so it must await what it starts. After a term shorter than 0.1 s, `lead` waits for the rest
   * of that time. Each further short term in a row doubles the time, up to 2 s. All these times are shortened by up to a fifth, at random.
   * After a longer term the next campaign follows at once. While `lead` waits, it has no candidate in the queue, so another candidate leads
   * if there is one.
   *
   * @param work leads. Its `stop` signal aborts when `leadership.signal` or `options.signal` aborts, after `options.workTimeoutMs`, or on
   *   `close` of the client, as in `LockClient.run`
   * @returns resolves when `options.signal` has aborted, the work has ended and the resignation is confirmed
   * @throws the error of the work while it led. An error of the work after a loss does not end `lead`, but is passed to `onEnd`
   * @throws {QueueLockError} errors of campaigns that a retry cannot help: `ACCESS_DENIED`, `CLOSED`, `REENTRANT`, and `INVALID_ARGUMENT`
   *   for a `minRemainingMs` that no heartbeat can prove
   */
  lead(work: (leadership: Leadership, stop: AbortSignal) => unknown, options: LeadOptions): Promise<void>;
  /**
   * Keeps a candidate while it is subscribed to. Emits the leadership when elected, and `undefined` while
   * there is none. The candidate campaigns again after each loss, each resignation and each failure (see
   * `errors$`). Unsubscribing withdraws it or resigns. All subscribers share one candidate. `undefined` is
   * emitted synchronously with the loss. Errors when `lead` would reject with an error of a campaign;
   * completes when the client is closed.
   */
  readonly candidacy$: Observable<Leadership | undefined>;
  /**
   * Emits whether a candidate of this `election` object leads, created by `campaign`, `lead` or `candidacy$`:
   * at once, then after each change. `false` is emitted synchronously with the loss. Other `election` objects
   * of the same name do not count.
   * It sends no request, and subscribing creates no candidate. So use it for status pages and health probes.
   * Never errors; completes when the client is closed.
   */
  readonly isLeader$: Observable<boolean>;
  /**
   * Emits an event each time a candidacy of `lead` or `candidacy$` fails and another one follows. Late
   * subscribers get no earlier events. Subscribing creates no candidate. Never errors, never completes. An
   * error that a retry cannot help is not emitted here, but ends `lead` or `candidacy$`.
   */
  readonly errors$: Observable<ElectionErrorEvent>;
  /**
   * Emits the leader: at once, then after each change, also when there is none. It may leave out changes
   * between two reads, but it never emits an earlier leader after a later one.
   * The first entry in the queue counts as the leader once its predecessor is gone. That is a little before
   * the new leader itself is notified. Never errors; completes when the client is closed.
   */
  readonly leader$: Observable<LeaderState>;
  /** Emits the candidates: at once, then after each change. Reads, errors and completion are as for `leader$`. */
  readonly candidates$: Observable<CandidatesState>;
}
