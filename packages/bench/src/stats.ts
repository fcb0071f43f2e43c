/** Returns the middle value; for an even count the mean of the two. NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[half - 1] ?? NaN)) / 2;
}

/** Returns the smallest value that `share` (0 to 1) of all values do not exceed. NaN for none. */
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
