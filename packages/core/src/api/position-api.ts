import type { Observable } from 'rxjs';
import type { ClaimState } from './api.ts';
import type { HandoverAnswer } from './hold-api.ts';

/** Where an entry stands. */
export interface QueuePosition {
  /**
   * 0: its turn has come. 1: it is the first of those who wait. And so on, in the queue's order; readers count like everybody. It means the
   * same wherever a `position` is shown.
   */
  readonly position: number;
  /** In milliseconds from now; `undefined` as long as nothing is known of the holds that it waits for. See `expectedWait`. */
  readonly expectedWaitMs: number | undefined;
  /** What the expected wait is made of. */
  readonly basis: WaitBasis;
  /** The server cannot be reached: this is as last known. */
  readonly stale: boolean;
}

/** What an expected wait is made of: how many entries ahead said how long they hold, how many were judged by what was seen, by what was assumed, and by nothing. */
export interface WaitBasis {
  readonly announced: number;
  readonly seen: number;
  readonly assumed: number;
  /** Counted as holds that never end, so a wait that is known nevertheless does not depend on them: others make way. */
  readonly unknown: number;
}

/** What a claim is at the moment, and where it stands. */
export type PositionedClaimState =
  | Exclude<ClaimState, { readonly status: 'queued' }>
  /** In line. `position` is at least 1: until the hold begins it is next. */
  | ({
      readonly status: 'queued';
      readonly order: bigint;
      /** The fencing token that it will have once it holds the lock. */
      readonly token: bigint;
      /** As `SharedOwnership.key`, also in its effect: do not read it for a log. */
      readonly key: string;
      /** Of the entry; see `QueueEntry.id`. */
      readonly id: string;
      /** With a `request`: the holder's answer, once there is one. */
      readonly answer?: HandoverAnswer;
    } & QueuePosition);

/**
 * A claim with its place in line, made by `LockClient.claimWithPosition`. As a stream: subscribing joins, unsubscribing leaves or releases. In a `for await`:
 * the loop joins, and whoever leaves it leaves the line, or releases and goes on when the server has confirmed that. A slow loop gets the
 * latest state, not all.
 */
export type PositionStream = Observable<PositionedClaimState> & AsyncIterable<PositionedClaimState>;
