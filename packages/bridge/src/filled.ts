import { checkedOptions, invalidArgument, type KnownOptions } from '@queuelock/core/backend';
import { MAX_INTERVAL_MS } from './wire/interval.ts';

/**
 * Smallest values of the bridge's options for intervals and time limits, in milliseconds. Shorter ones would
 * take all of the bridge's CPU time.
 */
const MIN_TIMES_MS: Readonly<Record<string, number>> = {
  heartbeatMs: 100,
  graceMs: 500,
  stuckMs: 1_000,
  diagnoseEveryMs: 1_000,
  bodyMs: 100,
};

/** The options that the bridge sends to pages, which set timers by them. */
const SENT_TO_PAGES: ReadonlySet<string> = new Set(['heartbeatMs', 'graceMs']);

/**
 * Returns the schema of numeric options: it maps the name of each option in `defaults` to the type `number`.
 */
export function numbersOf<T extends object>(defaults: Required<T>): KnownOptions<T> {
  return Object.fromEntries(Object.keys(defaults).map((key) => [key, 'number'])) as KnownOptions<T>;
}

/** Validates the values of the bridge's numeric options, and fills in the defaults. */
export function filled<T extends object>(
  what: string,
  defaults: Required<T>,
  options: T | undefined,
): Required<T> {
  const checked = checkedOptions(what, options, numbersOf(defaults));
  const present = Object.entries<unknown>({ ...checked }).filter(([, value]) => value !== undefined);
  for (const [key, value] of present) {
    const min = MIN_TIMES_MS[key] ?? 0;
    const max = SENT_TO_PAGES.has(key) ? MAX_INTERVAL_MS : 2_147_483_647;
    if (!Number.isInteger(value) || Number(value) < min || Number(value) > max)
      throw invalidArgument(
        `${what}.${key}`,
        value,
        `is a whole number of at least ${String(min)} and at most ${String(max)}`,
      );
  }
  return { ...defaults, ...Object.fromEntries(present) };
}
