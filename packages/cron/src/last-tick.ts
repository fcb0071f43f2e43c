const SECOND_MS = 1_000;
/** About 17 years: longer than the longest gap between two ticks of any cron pattern. */
const LONGEST_SEARCH_MS = 2 ** 29 * SECOND_MS;

/**
 * Returns the last scheduled time at or before a time, for a schedule that can only compute its next time.
 * Ticks are whole seconds.
 * @param at the time, in Unix milliseconds
 * @param next rounds a time down to a whole second and returns the first tick after it, both in Unix
 * milliseconds. A later time never has an earlier tick.
 * @returns the tick in Unix milliseconds, or `undefined` when there is none in the last 17 years
 */
export function lastTickUntil(at: number, next: (after: number) => number): number | undefined {
  let none = at; // `none` is the earliest moment for which it is known that no tick lies between it and `at`.
  for (let back = SECOND_MS; back <= LONGEST_SEARCH_MS; back *= 2) {
    const some = at - back;
    if (next(some) <= at) return narrowed({ some, none, at }, next);
    none = some;
  }
  return undefined;
}

interface Bounds {
  /** A time before the wanted tick: at least one tick lies after this time and not after `at`. */
  readonly some: number;
  /** A time at or after the wanted tick: no tick lies after this time and not after `at`. */
  readonly none: number;
  readonly at: number;
}

function narrowed({ some, none, at }: Bounds, next: (after: number) => number): number {
  let [low, high] = [some, none];
  while (high - low > SECOND_MS) {
    const middle = (low + high) / 2;
    if (next(middle) <= at) low = middle;
    else high = middle;
  }
  return next(low);
}
