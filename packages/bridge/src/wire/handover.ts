import * as v from 'valibot';

/** What is asked of a holder, however it is asked. */
export interface WireHandoverRequest {
  /** Shown to the holder and to everybody. At most 200 characters. */
  readonly reason: string;
  /** In milliseconds; at most a minute. */
  readonly withinMs: number;
}

/** The members of `WireHandoverRequest`, for the schemas of all that carry one. */
export const handoverRequestEntries: {
  readonly reason: v.GenericSchema<string>;
  readonly withinMs: v.GenericSchema<number>;
} = {
  reason: v.pipe(v.string(), v.minLength(1), v.maxLength(200)),
  withinMs: v.pipe(v.number(), v.minValue(1), v.maxValue(60_000)),
};

/** Checks what is asked of a holder. */
export const handoverRequestSchema: v.GenericSchema<WireHandoverRequest> =
  v.strictObject(handoverRequestEntries);
