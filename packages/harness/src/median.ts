/**
 * Returns the median: the value in the middle of the sorted values. Of an even number of values it is the
 * larger of the two in the middle.
 */
export function medianOf(values: readonly number[]): number {
  if (values.length === 0) throw new Error('nothing was measured');
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
