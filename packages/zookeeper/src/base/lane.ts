/** Where works on one thing run one after the other. */
export class Lane {
  /** Settles when nothing that was called for is under way any more. */
  last: Promise<unknown> = Promise.resolve();
}

/** Works when all that was called for in any of these lanes before is settled; what comes later waits for it. */
export function inLine<T>(lanes: readonly Lane[], work: () => Promise<T>): Promise<T> {
  const result = Promise.allSettled(lanes.map(({ last }) => last)).then(work);
  for (const lane of lanes) lane.last = result;
  return result;
}
