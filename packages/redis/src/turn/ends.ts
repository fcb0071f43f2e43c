/**
 * Converts the time until the first lease at the head of a queue ends, from the microseconds of a script to milliseconds.
 * @param us is negative when the queue is empty; the result is then null
 */
export function endsInMs(us: number): number | null {
  return us < 0 ? null : us / 1_000;
}
