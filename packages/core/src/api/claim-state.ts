import type { QueueLockError } from './errors.ts';
import type { Ownership } from './hold-api.ts';
import type { HandoverAnswer } from './handover-api.ts';

/** State of a claim. `JSON.stringify` writes bigints as decimal texts, here and in all states, entries, ownerships and errors. */
export type ClaimState =
  | { readonly status: 'joining' }
  /** Waits in the queue. For a position that is kept up to date see `claimWithPosition`. */
  | {
      readonly status: 'queued';
      /** Conflicting entries ahead, holders included, as of the last read. `undefined` where the store would need another request to count them. */
      readonly entriesAhead: number | undefined;
      readonly order: bigint;
      /** The fencing token of the hold to come. */
      readonly token: bigint;
      /** Key of the entry; see `SharedOwnership.key`. On etcd, reading it disables the fast hand-off, so do not read it for a log. */
      readonly key: string;
      /** Id of the entry; see `QueueEntry.id`. */
      readonly id: string;
      /** The holder's answer to the `request` of this claim. */
      readonly answer?: HandoverAnswer;
    }
  | { readonly status: 'held'; readonly ownership: Ownership }
  /** Still held, but a heartbeat is overdue. It becomes `held` again, or is lost within `ownership.remainingMs`. */
  | { readonly status: 'suspect'; readonly ownership: Ownership }
  | ({ readonly status: 'ended' } & ClaimOutcome);

/** The outcome of a claim. */
export type ClaimOutcome =
  | { readonly outcome: 'released' }
  /** The hold ended against the holder's will. */
  | { readonly outcome: 'lost'; readonly error: QueueLockError }
  /** The claim was never granted: a timeout, an abort (`error` is the signal's reason), a lost session, a refusal, a closed client. */
  | { readonly outcome: 'failed'; readonly error: unknown };
