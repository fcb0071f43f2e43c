import * as v from 'valibot';

/**
 * The longest interval in milliseconds that the bridge's options may set. A timer for 2.5 times this interval
 * stays within JavaScript's limit for timers.
 */
export const MAX_INTERVAL_MS = 800_000_000;

/**
 * Schema of an interval in milliseconds that the bridge chooses and a page sets timers by. A shorter one would keep the page busy, and a longer one would
 * overflow its timers, which then fire at once.
 */
export const intervalSchema: v.GenericSchema<number> = v.pipe(
  v.number(),
  v.minValue(50),
  v.maxValue(MAX_INTERVAL_MS),
);
