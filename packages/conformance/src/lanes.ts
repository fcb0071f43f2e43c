/** Begins the works in their order, so many at a time, and answers for each what comes of it. */
export function inLanes<T>(works: readonly (() => Promise<T>)[], count: number): readonly Promise<T>[] {
  const lanes = Array.from({ length: count }, () => Promise.resolve<unknown>(undefined));
  return works.map((work, place) => {
    const before = lanes[place % count] ?? Promise.resolve();
    const result = before.then(work);
    // Whoever asks for the result hears of its failure; the lane goes on.
    lanes[place % count] = result.catch(() => undefined);
    return result;
  });
}
