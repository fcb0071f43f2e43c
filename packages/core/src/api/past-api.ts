import type { RevocationReason } from './errors.ts';

/** One hold of a name, as its client recorded it. All texts are printable. */
export interface RecordedHoldFacts {
  /** The first 16 hexadecimal digits of the entry's id. */
  readonly id: string;
  /** The fencing token of the hold. */
  readonly token: bigint;
  /** The order number of the hold's entry: smaller is earlier in its queue. */
  readonly order: bigint;
  /** Owner label of the entry, shortened to 100 characters. For an entry with the option `value`, it is that text. */
  readonly owner: string;
  /** The machine of the holder's process. */
  readonly host?: string;
  /** The id of the holder's process. */
  readonly pid?: number;
  /** When the hold began, in milliseconds since 1970, by the clock of the holder's machine. */
  readonly beganAt: number;
}

/** How a recorded hold ended. */
export type RecordedHoldEnd =
  /** No end is recorded, and the entry is still in the queue. */
  | { readonly status: 'held' }
  | {
      readonly status: 'ended';
      /** `released`: the holder released the lock. Any other value is the reason why the holder lost it. */
      readonly reason: 'released' | RevocationReason;
      /** How long the lock was held, in milliseconds, by the monotonic clock of the holder. */
      readonly heldMs: number;
      /** Label and reason of the client that removed the entry. Set if another client removed it and the holder has read the record of the removal. */
      readonly eviction?: { readonly by: string; readonly reason: string };
    }
  /** No end is recorded, and the entry is not in the queue. The holder's process died, could not reach the store, or has not written the end yet. */
  | {
      readonly status: 'unrecorded';
      /**
       * When the next hold began, in milliseconds since 1970 by the clock of its holder's machine. Set if that hold was recorded. The hold described
       * here had ended by then.
       */
      readonly endedAtLatest?: number;
    };

/** A recorded hold of a name, and how it ended. */
export type RecordedHold = RecordedHoldFacts & RecordedHoldEnd;

/** The latest recorded holds of a name. */
export interface RecordedHoldsState {
  /** `connecting` until queue and record were read. `stale` while the server cannot be reached; `holds` are then the last known ones. */
  readonly status: 'connecting' | 'live' | 'stale';
  readonly name: string;
  /** The holds in the order of their grants, the newest last. */
  readonly holds: readonly RecordedHold[];
  /** Error of the last read that failed. Set while the status is not `live`. */
  readonly error?: unknown;
}
