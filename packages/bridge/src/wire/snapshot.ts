import * as v from 'valibot';
import { errorSchema, type WireError } from './error.ts';

/** What all snapshots say. Times are in milliseconds since 1970 by the bridge's clock; durations are as of `at`. */
export interface Snapshot {
  /** When the snapshot was made. */
  readonly at: number;
  /** Of the bridge towards the store: `connecting` until the first answer; `stale`: the store cannot be reached, the rest is the last known. */
  readonly status: 'connecting' | 'live' | 'stale';
  /** While it is not `live`: why the last look failed. */
  readonly error?: WireError;
}

/** The members of `Snapshot`, for the schemas of all snapshots. */
export const snapshotEntries: {
  readonly at: v.GenericSchema<number>;
  readonly status: v.GenericSchema<Snapshot['status']>;
  readonly error: v.ExactOptionalSchema<v.GenericSchema<WireError>, undefined>;
} = {
  at: v.number(),
  status: v.picklist(['connecting', 'live', 'stale']),
  error: v.exactOptional(errorSchema),
};
