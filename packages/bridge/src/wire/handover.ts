import * as v from 'valibot';

/** A handover request to the holder, as a page sends it: by `BridgeClient.ask`, or with a request to join. */
export interface WireHandoverRequest {
  /** Reason, shown to the holder and to all users. At most 200 characters. */
  readonly reason: string;
  /** Time limit for the holder's answer in milliseconds, at most 60,000. */
  readonly withinMs: number;
}

/** Properties of `WireHandoverRequest`, for the schemas that include them. */
export const handoverRequestEntries: {
  readonly reason: v.GenericSchema<string>;
  readonly withinMs: v.GenericSchema<number>;
} = {
  reason: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  withinMs: v.pipe(v.number(), v.minValue(1), v.maxValue(60_000)),
};

/** Schema of `WireHandoverRequest`. */
export const handoverRequestSchema: v.GenericSchema<WireHandoverRequest> =
  v.strictObject(handoverRequestEntries);
