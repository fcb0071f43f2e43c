import * as v from 'valibot';
import { errorSchema, type WireError } from './error.ts';

/** What all pictures say. Times are in milliseconds since 1970 by the bridge's clock; durations are as of `at`. */
export interface Picture {
  /** When the picture was made. */
  readonly at: number;
  /** Of the bridge towards the store: `connecting` until the first answer; `stale`: the store cannot be reached, the rest is the last known. */
  readonly status: 'connecting' | 'live' | 'stale';
  /** While it is not `live`: why the last look failed. */
  readonly trouble?: WireError;
}

/** The members of `Picture`, for the schemas of all pictures. */
export const pictureEntries: {
  readonly at: v.GenericSchema<number>;
  readonly status: v.GenericSchema<Picture['status']>;
  readonly trouble: v.ExactOptionalSchema<v.GenericSchema<WireError>, undefined>;
} = {
  at: v.number(),
  status: v.picklist(['connecting', 'live', 'stale']),
  trouble: v.exactOptional(errorSchema),
};
