/** A sequence of tasks that run one after another. */
export class Lane {
  /** Settles when all tasks that have been added so far have settled. */
  last: Promise<unknown> = Promise.resolve();
}

/**
 * Runs a task after all tasks that were added earlier to any of these lanes. Tasks that are added later to
 * one of them wait for it.
 */
export function runInLanes<T>(lanes: readonly Lane[], task: () => Promise<T>): Promise<T> {
  const result = Promise.allSettled(lanes.map(({ last }) => last)).then(task);
  for (const lane of lanes) lane.last = result;
  return result;
}
