import type { Observable } from 'rxjs';
import type { ClaimState } from './claim-state.ts';
import type { HandoverAnswer } from './handover-api.ts';

/** Position of an entry in its queue, and its expected wait. */
export interface QueuePosition {
  /**
   * Position of the entry. 0: the entry is admitted. 1: the entry is the first waiter, and so on in the queue's order. Waiting readers count like
   * other entries.
   */
  readonly position: number;
  /** Estimated wait in milliseconds from now. `undefined` while the durations of the holds ahead are unknown. See `expectedWait`. */
  readonly expectedWaitMs: number | undefined;
  /** From which sources the estimate takes the durations of the holds ahead. */
  readonly basis: WaitBasis;
  /** Whether the server cannot be reached. Then position and estimate are the last known ones. */
  readonly stale: boolean;
}

/**
 * Sources from which an expected wait takes the durations of the holds ahead: the number of entries ahead for
 * each source.
 */
export interface WaitBasis {
  /** Number of entries ahead whose client announced the duration of its holds. */
  readonly announced: number;
  /** Number of entries ahead for which the client uses the observed duration of earlier holds. */
  readonly seen: number;
  /** Number of entries ahead for which the client assumes its own `typicalHoldMs`. */
  readonly assumed: number;
  /**
   * Number of entries ahead whose holds have an unknown duration. The estimate treats these holds as endless. If `expectedWaitMs` is defined although
   * this number is above 0, it does not depend on these holds.
   */
  readonly unknown: number;
}

/** State of a claim that includes its position while it waits. */
export type PositionedClaimState =
  | Exclude<ClaimState, { readonly status: 'queued' }>
  /** The claim waits in the queue. `position` is at least 1 until the hold begins. */
  | ({
      readonly status: 'queued';
      readonly order: bigint;
      /** The fencing token that the hold will have. */
      readonly token: bigint;
      /**
       * Key of the entry; see `SharedOwnership.key`. Do not read it for a log: on etcd, the next hold of the name by this client then begins only after
       * this entry has left the store.
       */
      readonly key: string;
      /** Id of the entry; see `QueueEntry.id`. */
      readonly id: string;
      /** The holder's response to the `request` of this claim. */
      readonly answer?: HandoverAnswer;
    } & QueuePosition);

/**
 * A claim with its position, which `LockClient.claimWithPosition` returns. As a stream: subscribing joins the queue; unsubscribing leaves the queue
 * or releases the lock. In a `for await` loop: the loop joins the queue. Its end leaves the queue or releases the lock, and waits until the server
 * has confirmed that. A slow loop skips states and receives only the latest one.
 */
export type PositionStream = Observable<PositionedClaimState> & AsyncIterable<PositionedClaimState>;
