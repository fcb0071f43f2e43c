/**
 * Converts the time until the first of the leases at the head of a queue ends: from the microseconds `us` that a script returns, to
 * milliseconds.
 * @param us is negative when the queue is empty; the result is then null
 */
export function endsInMs(us: number): number | null {
  return us < 0 ? null : us / 1_000;
}
