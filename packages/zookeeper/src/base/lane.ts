/** A lane runs tasks one after another. */
export class Lane {
  /** Settles when every task that was added so far has settled. */
  last: Promise<unknown> = Promise.resolve();
}

/** Runs the task after all earlier tasks of all these lanes. Tasks that are added to any of them later wait for this task. */
export function runInLanes<T>(lanes: readonly Lane[], task: () => Promise<T>): Promise<T> {
  const result = Promise.allSettled(lanes.map(({ last }) => last)).then(task);
  for (const lane of lanes) lane.last = result;
  return result;
}
