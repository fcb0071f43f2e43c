import * as v from 'valibot';
import { snapshotEntries, type Snapshot } from './snapshot.ts';

const REASONS = ['released', 'session-lost', 'heartbeat-timeout', 'entry-removed', 'client-closed'] as const;

/** A hold that its client recorded in the store. */
export interface RecordedHoldSnapshot {
  /** The first 16 hexadecimal digits of the entry's id. */
  readonly id: string;
  readonly owner: string;
  readonly host?: string;
  readonly pid?: number;
  /** Fencing token of the hold, as a decimal string. */
  readonly token: string;
  /** When the hold began, by the clock of the holder's machine. */
  readonly beganAt: number;
  /**
   * State of the hold. `ended`: its end is recorded. If no end is recorded: `held` while the entry is in the
   * queue, `unrecorded` afterwards.
   */
  readonly status: 'held' | 'ended' | 'unrecorded';
  /** How the hold ended. Present if the hold has the status `ended`. */
  readonly reason?: (typeof REASONS)[number];
  /** How long the lock was held, in milliseconds. Present if the hold has the status `ended`. */
  readonly heldMs?: number;
  /** Who removed the entry and why, if another client did. */
  readonly eviction?: { readonly by: string; readonly reason: string };
  /**
   * When the next hold of the lock began, by the clock of its holder's machine. Present if this hold has the
   * status `unrecorded` and the next hold was recorded.
   */
  readonly endedAtLatest?: number;
}

/** The recorded holds of a queue. */
export interface RecordSnapshot extends Snapshot {
  readonly name: string;
  /** The holds in the order of the grants, the newest last. */
  readonly holds: readonly RecordedHoldSnapshot[];
}

const text = v.string();
const number = v.number();

/** Schema of `RecordSnapshot`. */
export const recordSchema: v.GenericSchema<RecordSnapshot> = v.object({
  ...snapshotEntries,
  name: text,
  holds: v.array(
    v.object({
      id: text,
      owner: text,
      host: v.exactOptional(text),
      pid: v.exactOptional(number),
      token: text,
      beganAt: number,
      status: v.picklist(['held', 'ended', 'unrecorded']),
      reason: v.exactOptional(v.picklist(REASONS)),
      heldMs: v.exactOptional(number),
      eviction: v.exactOptional(v.object({ by: text, reason: text })),
      endedAtLatest: v.exactOptional(number),
    }),
  ),
});
