/**
 * Starts the tasks in order and runs at most `count` of them at the same time. Returns one promise for each
 * task.
 */
export function inLanes<T>(works: readonly (() => Promise<T>)[], count: number): readonly Promise<T>[] {
  const lanes = Array.from({ length: count }, () => Promise.resolve<unknown>(undefined));
  return works.map((work, place) => {
    const before = lanes[place % count] ?? Promise.resolve();
    const result = before.then(work);
    // A failed task does not stop the next one. The caller handles the rejection of the failed task's
    // promise.
    lanes[place % count] = result.catch(() => undefined);
    return result;
  });
}
