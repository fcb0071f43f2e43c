/** Returns milliseconds since 1970, for display only. No decision may use them, because the wall clock can be set forward and back. */
export function wallTime(): number {
  // eslint-disable-next-line no-restricted-syntax -- a label, not a decision
  return Date.now();
}
