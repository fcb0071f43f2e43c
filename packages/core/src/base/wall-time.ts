/** Milliseconds since 1970, for people to read. Wall time jumps: nothing is ever decided by it. */
export function wallTime(): number {
  // eslint-disable-next-line no-restricted-syntax -- a label, not a decision
  return Date.now();
}
