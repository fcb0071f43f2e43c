/** Starts the tasks in their order, `count` at a time. Returns the promise of each task. */
export function inLanes<T>(works: readonly (() => Promise<T>)[], count: number): readonly Promise<T>[] {
  const lanes = Array.from({ length: count }, () => Promise.resolve<unknown>(undefined));
  return works.map((work, place) => {
    const before = lanes[place % count] ?? Promise.resolve();
    const result = before.then(work);
    // The caller handles the rejection of the result. The next task of this sequence starts in any case.
    lanes[place % count] = result.catch(() => undefined);
    return result;
  });
}
