import type { Observable } from 'rxjs';
import type { ClaimState } from './claim-state.ts';
import type { HandoverAnswer } from './handover-api.ts';

/** Position of an entry in its queue. */
export interface QueuePosition {
  /** 0: the entry is admitted. 1: it is the first waiter, and so on in the queue's order; shared entries count too. */
  readonly position: number;
  /** Estimated wait in milliseconds from now; `undefined` while nothing is known of the holds ahead. See `expectedWait`. */
  readonly expectedWaitMs: number | undefined;
  /** The sources of the estimate. */
  readonly basis: WaitBasis;
  /** Whether the server cannot be reached, so that position and estimate are the last known ones. */
  readonly stale: boolean;
}

/** Number of entries ahead that an expected wait is based on, by the source of their duration. */
export interface WaitBasis {
  /** Entries whose client announced the duration of its holds. */
  readonly announced: number;
  /** Entries for which the duration of observed holds is used. */
  readonly seen: number;
  /** Entries for which `typicalHoldMs` of this client is assumed. */
  readonly assumed: number;
  /** Entries of unknown duration, which count as holds that never end. If `expectedWaitMs` is known nevertheless, it does not depend on them. */
  readonly unknown: number;
}

/** State of a claim, with its position while it waits. */
export type PositionedClaimState =
  | Exclude<ClaimState, { readonly status: 'queued' }>
  /** Waits in the queue. `position` is at least 1 until the hold begins. */
  | ({
      readonly status: 'queued';
      readonly order: bigint;
      /** The fencing token of the hold to come. */
      readonly token: bigint;
      /** Key of the entry; see `SharedOwnership.key`. On etcd, reading it disables the fast hand-off, so do not read it for a log. */
      readonly key: string;
      /** Id of the entry; see `QueueEntry.id`. */
      readonly id: string;
      /** The holder's answer to the `request` of this claim. */
      readonly answer?: HandoverAnswer;
    } & QueuePosition);

/**
 * A claim with its position, made by `LockClient.claimWithPosition`. As a stream: subscribing joins the queue, unsubscribing leaves it or releases.
 * In a `for await`: the loop joins the queue, and leaving the loop leaves the queue or releases, and waits until the server has confirmed it.
 * A slow loop gets the latest state only.
 */
export type PositionStream = Observable<PositionedClaimState> & AsyncIterable<PositionedClaimState>;
