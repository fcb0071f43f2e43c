/** The one in the middle, the larger of two: what one odd value does not move. */
export function medianOf(values: readonly number[]): number {
  if (values.length === 0) throw new Error('nothing was measured');
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
}
