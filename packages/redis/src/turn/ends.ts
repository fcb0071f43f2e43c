/** Scripts answer in how many microseconds the first lease in front ends, -1 if there is nobody. In milliseconds; null: there is nobody. */
export function endsInMs(us: number): number | null {
  return us < 0 ? null : us / 1_000;
}
