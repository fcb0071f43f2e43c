/**
 * Converts the time until the first lease at the head of a queue ends from microseconds to milliseconds.
 * @param us the time that a script returned; negative when the queue is empty
 * @returns `null` when the queue is empty
 */
export function endsInMs(us: number): number | null {
  return us < 0 ? null : us / 1_000;
}
