import type { RevocationReason } from './errors.ts';

/** One hold of a name, as its client recorded it. All texts are printable. */
export interface RecordedHoldFacts {
  /** The first 16 hexadecimal digits of the entry's id. */
  readonly id: string;
  /** The fencing token of the hold. */
  readonly token: bigint;
  /** The order of its entry. */
  readonly order: bigint;
  /** Label of the entry, shortened to 100 characters; for an entry with a `value`, that text. */
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
  /** No end is recorded, and the entry is in the queue. */
  | { readonly status: 'held' }
  | {
      readonly status: 'ended';
      /** `released`: by its holder. Otherwise why the holder lost it. */
      readonly reason: 'released' | RevocationReason;
      /** How long it was held, in milliseconds, by the monotonic clock of the holder. */
      readonly heldMs: number;
      /** Who removed the entry and why, if another client did and the holder read it. */
      readonly eviction?: { readonly by: string; readonly reason: string };
    }
  /** No end is recorded, and the entry is not in the queue: its process died, could not reach the store, or has not written the end yet. */
  | {
      readonly status: 'unrecorded';
      /** When the next holder began, in milliseconds since 1970 by its clock, if that was recorded. The hold had ended by then. */
      readonly goneAt?: number;
    };

/** One hold of a name and how it ended. */
export type RecordedHold = RecordedHoldFacts & RecordedHoldEnd;

/** The latest recorded holds of a name. */
export interface RecordedHoldsState {
  /** `connecting` until queue and record were read; `stale` while the server cannot be reached, so that `holds` are the last known. */
  readonly status: 'connecting' | 'live' | 'stale';
  readonly name: string;
  /** In the order of the grants, the newest last. */
  readonly holds: readonly RecordedHold[];
  /** Why the last read failed, while the status is not `live`. */
  readonly error?: unknown;
}
