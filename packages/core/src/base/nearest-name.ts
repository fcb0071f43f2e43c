const LEAST_COMMON = 3;
// Longest text that is compared with the known names, in UTF-16 code units. No option name is longer, and the time for a comparison grows with the
// lengths of both texts.
const LONGEST = 64;

/**
 * Returns the known name that the caller probably meant: one that shares a part with `written`, or differs from it by a few letters. Returns
 * `undefined` when no name is similar.
 */
export function nearestName(written: string, known: readonly string[]): string | undefined {
  if (written.length > LONGEST) return undefined;
  const near = known
    .map((name) => ({ name, distance: distanceIn(written.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance }) => isNear(written.toLowerCase(), name.toLowerCase(), distance))
    .sort((a, b) => a.distance - b.distance);
  return near[0]?.name;
}

function isNear(written: string, name: string, distance: number): boolean {
  const [shorter, longer] = written.length < name.length ? [written, name] : [name, written];
  return (
    (shorter.length >= LEAST_COMMON && longer.includes(shorter)) || distance <= Math.floor(longer.length / 3)
  );
}

/** Returns the Levenshtein distance: the number of letters to add, remove or replace. */
function distanceIn(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (const [taken, letter] of Array.from(from).entries()) {
    const next = [taken + 1];
    for (const [at, other] of Array.from(to).entries()) {
      const [without = 0, changed = 0, added = 0] = [row[at + 1], row[at], next[at]];
      next.push(Math.min(without + 1, added + 1, changed + (letter === other ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
