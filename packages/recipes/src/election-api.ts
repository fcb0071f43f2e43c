import type { ClaimOptions, Clock, Ownership, QueueLockError, WorkOptions } from '@queuelock/core';
import type { Observable } from 'rxjs';

/** Who stands for a leader, and with what. */
export interface ElectionOptions {
  /**
   * What everybody sees of this candidate, for instance its address: stored as it is from the moment when it joins, so that it is
   * right when it leads. At most 1,024 bytes of UTF-8; never a secret.
   */
  readonly value: string;
  /**
   * `Leadership.id` of a process before this one, whose session the client resumes (`LockClientOptions.resume`): the first candidacy
   * of this election goes on with that entry, and publishes the `value` given here. Where session or entry are gone it is a
   * candidacy like any other, at the end of the line.
   */
  readonly id?: string;
  /** For tests: the time that counts for the pauses between attempts. Default: the machine's. */
  readonly clock?: Clock;
}

/** Settings of one campaign; see `ClaimOptions`. */
export type CampaignOptions = Pick<ClaimOptions, 'signal' | 'timeoutMs' | 'minRemainingMs'>;

/** Settings of leading again and again. */
export interface LeadOptions
  extends Pick<ClaimOptions, 'minRemainingMs'>, Pick<WorkOptions, 'workTimeoutMs'> {
  /** Ends it: withdraws the candidate, or tells the work to end and waits for that. */
  readonly signal: AbortSignal;
  /**
   * Is called after each term, however it ended, when the work has ended and the resignation is confirmed, before the next campaign.
   * What it throws ends the leading; after `failed` it is the error of the work that `lead` rejects with all the same.
   */
  readonly onEnd?: (end: TermEnd) => void;
}

/** How a term ended. */
export type TermEnd =
  | { readonly outcome: 'resigned' }
  /** `OWNERSHIP_LOST`; its `cause` is what the work threw, if it threw something else. */
  | { readonly outcome: 'lost'; readonly error: QueueLockError }
  /** `WORK_TIMEOUT`: the work threw after its `workTimeoutMs`; its `cause` is what it threw, if that was something else. */
  | { readonly outcome: 'timed-out'; readonly error: QueueLockError }
  /** The work threw while it led, which ends the leading: what `lead` rejects with. */
  | { readonly outcome: 'failed'; readonly error: unknown };

/** A candidacy of `lead` or `candidacy$` failed for a time. */
export interface ElectionErrorEvent {
  /** Most often a `QueueLockError`: `UNAVAILABLE` while the server cannot be reached, `NOT_ENOUGH_TIME` when it answers late. */
  readonly error: unknown;
  /** Until it stands again, in milliseconds. */
  readonly retryInMs: number;
}

/** The right to act as the leader, for as long as `held` says so. */
export interface Leadership
  extends
    Pick<
      Ownership,
      'name' | 'id' | 'key' | 'order' | 'token' | 'signal' | 'held' | 'remainingMs' | 'throwIfLost'
    >,
    AsyncDisposable {
  /** As it was last confirmed. */
  readonly value: string;
  /**
   * Publishes another value. Repeated until it is certain; one after the other. Rejects with `OWNERSHIP_LOST` when this leadership is
   * over, and never writes on an entry of somebody else.
   */
  readonly proclaim: (value: string) => Promise<void>;
  /** Makes way for the next candidate. Settles as `Ownership.release`; calling it again answers the same. */
  readonly resign: () => Promise<void>;
}

/** A candidate as everybody can see it. */
export interface Candidate {
  /** As stored, also by programs in other languages. */
  readonly value: string;
  readonly key: string;
  readonly order: bigint;
  /** As `QueueEntry.id`; unknown of entries that store nothing but a value. */
  readonly id?: string;
}

/** Who leads, as far as is known. */
export interface LeaderState {
  /** `connecting` until the first answer; `stale` while the server cannot be reached: the leader is then the last known. */
  readonly status: 'connecting' | 'live' | 'stale';
  /** `undefined`: nobody (as far as is known). */
  readonly leader: Candidate | undefined;
}

/** Who stands, as far as is known; `status` as in `LeaderState`. */
export interface CandidatesState {
  readonly status: LeaderState['status'];
  /** In the order in which they will lead; the first one leads. */
  readonly candidates: readonly Candidate[];
}

/**
 * One name for which candidates stand in line; made by `election`, which stands for nothing yet. `campaign`, `lead` and `candidacy$`
 * stand. The other streams look on: whoever subscribes to them is no candidate by that.
 */
export interface Election {
  readonly name: string;
  /** Stands, waits, and answers when elected. Each call is a candidate of its own. Rejects as `LockClient.acquire`. */
  campaign(options?: CampaignOptions): Promise<Leadership>;
  /**
   * Leads whenever it can: campaigns, does the work, resigns, and campaigns again, at the end of the line: after the work has returned,
   * after a loss, and after a candidacy that failed for a time, which `errors$` tells of, with a pause that grows from 0.1 to 2 s.
   * Never are two works of one call under way: after a loss it waits for the work to end.
   *
   * The work is to last as long as it leads, so that it awaits what it starts. After a term that was shorter than 0.1 s it stands back for
   * the rest of that, and each short term in a row doubles the time, up to 2 s (all cut by up to a fifth, at random); a term that was as long is
   * followed by the next campaign at once. During that pause nobody of this call stands, so another candidate leads if there is one.
   *
   * @param work leads; `stop` aborts when it is to end: `leadership.signal` aborted, `options.signal`, the end of
   *   `options.workTimeoutMs`, or a `close` of the client; as in `LockClient.run`.
   * @returns resolves when `options.signal` has aborted, the work has ended and the resignation is confirmed. Rejects with what the
   *   work threw while it led, and with errors of campaigns that no repetition helps (`ACCESS_DENIED`, `CLOSED`, `REENTRANT`,
   *   `INVALID_ARGUMENT` for a `minRemainingMs` that no heartbeat proves). What the
   *   work throws after a loss does not end it, but is told to `onEnd`.
   */
  lead(work: (leadership: Leadership, stop: AbortSignal) => unknown, options: LeadOptions): Promise<void>;
  /**
   * Stands as long as somebody subscribes, and emits the leadership, `undefined` while it has none. It stands again after each loss,
   * each resignation and each failure (see `errors$`); unsubscribing withdraws or resigns. All subscribers share one candidate. `undefined`
   * comes synchronously with the loss. Errors where `lead` rejects; completes when the client is closed.
   */
  readonly candidacy$: Observable<Leadership | undefined>;
  /**
   * Whether a candidate of this `election` leads, whether by `campaign`, `lead` or `candidacy$`: now, then every change. Subscribing does
   * not stand: it is for pages and probes. `false` comes synchronously with the loss. Asks no server, knows nothing of other
   * `election`s of that name, never errors; completes when the client is closed.
   */
  readonly isLeader$: Observable<boolean>;
  /**
   * What stands in the way of `lead` and `candidacy$`, each time when a candidacy failed and another one follows. Nothing is repeated to who
   * subscribes later. Subscribing does not stand. Never errors, never completes. What no repetition helps ends `lead` and `candidacy$` instead.
   */
  readonly errors$: Observable<ElectionErrorEvent>;
  /**
   * Who leads: now, then every change, a vacancy too. What happened unseen between two looks is left out, but an earlier leader never
   * follows a later one. The first in line counts as the leader from the moment when the one before is gone, a little before
   * it knows itself. Never errors; completes when the client is closed.
   */
  readonly leader$: Observable<LeaderState>;
  /** Who stands. Otherwise as `leader$`. */
  readonly candidates$: Observable<CandidatesState>;
}
