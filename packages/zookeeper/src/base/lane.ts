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
  // Keeps only that the task has settled. Its result may contain a list of the queue, and the lane exists as
  // long as its entry.
  const settled = result.then(ignore, ignore);
  for (const lane of lanes) lane.last = settled;
  return result;
}

function ignore(): void {
  // Ignores the outcome, because only the end of the task matters.
}
