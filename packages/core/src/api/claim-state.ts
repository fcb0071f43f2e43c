import type { QueueLockError } from './errors.ts';
import type { Ownership } from './hold-api.ts';
import type { HandoverAnswer } from './handover-api.ts';

/** State of a claim. `JSON.stringify` writes bigints as decimal texts, here and in all states, entries, ownerships and errors. */
export type ClaimState =
  | { readonly status: 'joining' }
  /** The claim waits in the queue. `claimWithPosition` has a state with an up-to-date position. */
  | {
      readonly status: 'queued';
      /**
       * Number of conflicting entries ahead, holders included, when the queue was last read. `undefined` on stores where counting them costs another
       * request.
       */
      readonly entriesAhead: number | undefined;
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
    }
  | { readonly status: 'held'; readonly ownership: Ownership }
  /** The lock is still held, but a heartbeat is overdue. The state becomes `held` again, or the lock is lost within `ownership.remainingMs`. */
  | { readonly status: 'suspect'; readonly ownership: Ownership }
  | ({ readonly status: 'ended' } & ClaimOutcome);

/** How a claim ended. */
export type ClaimOutcome =
  | { readonly outcome: 'released' }
  /** The hold ended against its holder's will. */
  | { readonly outcome: 'lost'; readonly error: QueueLockError }
  /**
   * The lock was never granted. Possible causes: a timeout, an abort (`error` is the signal's reason), a lost session, a refusal by the server, a
   * closed client.
   */
  | { readonly outcome: 'failed'; readonly error: unknown };
