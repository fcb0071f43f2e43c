/** Returns the median, and the larger one of two. Single outliers do not affect it. */
export function medianOf(values: readonly number[]): number {
  if (values.length === 0) throw new Error('nothing was measured');
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
