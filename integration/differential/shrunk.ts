/**
 * Searches for a short part of a list with which a test still fails. Leaves out items as long as `fails`
 * resolves with true: first halves of the list, then smaller parts, then single items.
 * @param withinMs time after which no further attempt begins, in milliseconds
 * @returns the shortest list found that fails
 */
export async function shrunk<T>(
  items: readonly T[],
  withinMs: number,
  fails: (fewer: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  const deadline = performance.now() + withinMs;
  let best = items;
  for (let size = Math.ceil(items.length / 2); size > 0; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = 0; at < best.length;) {
      if (performance.now() > deadline) return best;
      const fewer = best.toSpliced(at, size);
      if (fewer.length > 0 && (await fails(fewer))) best = fewer;
      else at += size;
    }
  }
  return best;
}
