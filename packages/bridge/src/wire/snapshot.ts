import * as v from 'valibot';
import { errorSchema, type WireError } from './error.ts';

/**
 * Properties that all snapshots have. Times are in milliseconds since 1970 by the bridge's clock. Remaining
 * and expected times, such as `expectedWaitMs`, count from `at`.
 */
export interface Snapshot {
  /** Time at which the snapshot was made. */
  readonly at: number;
  /**
   * State of the connection between the bridge and the store. `connecting`: before the first response.
   * `stale`: the store cannot be reached, and the snapshot shows the last known state.
   */
  readonly status: 'connecting' | 'live' | 'stale';
  /** Error of the bridge's last read from the store, while the connection to the store is not `live`. */
  readonly error?: WireError;
}

/** Schemas of the properties of `Snapshot`. The schema of each kind of snapshot includes them. */
export const snapshotEntries: {
  readonly at: v.GenericSchema<number>;
  readonly status: v.GenericSchema<Snapshot['status']>;
  readonly error: v.ExactOptionalSchema<v.GenericSchema<WireError>, undefined>;
} = {
  at: v.number(),
  status: v.picklist(['connecting', 'live', 'stale']),
  error: v.exactOptional(errorSchema),
};
