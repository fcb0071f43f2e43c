/** A sequence of tasks that run one after another. */
export class Lane {
  /** Settles when all tasks that have been added so far have settled. */
  last: Promise<unknown> = Promise.resolve();
}

/**
 * Runs a task after all tasks that were added earlier to any of the given lanes (sequences of tasks). Tasks
 * that are added later to any of them wait for this task.
 */
export function runInLanes<T>(lanes: readonly Lane[], task: () => Promise<T>): Promise<T> {
  const result = Promise.allSettled(lanes.map(({ last }) => last)).then(task);
  // A lane keeps only the end of a task, not its result. A result may contain a list of the queue, and the
  // lane exists as long as its entry.
  const settled = result.then(ignore, ignore);
  for (const lane of lanes) lane.last = settled;
  return result;
}

function ignore(): void {
  // Ignores the result or error of a task, because the next task waits only for its end.
}
