/**
 * Returns the median of the values: the middle one, or for an even count the mean of the two in the middle.
 * Returns NaN if there are no values.
 */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[half - 1] ?? NaN)) / 2;
}

/**
 * Returns the percentile of the values: the smallest value that a share of all values, from 0 to 1, do not
 * exceed. Returns NaN if there are no values.
 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Returns, for each key, the median of its values in all records that have the key. */
export function medians(records: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const keys = [...new Set(records.flatMap((record) => Object.keys(record)))];
  const column = (key: string): number[] => records.flatMap((record) => record[key] ?? []);
  return Object.fromEntries(keys.map((key) => [key, median(column(key))]));
}
