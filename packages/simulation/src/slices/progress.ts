/** A range of seeds from `from` (inclusive) to `to` (exclusive). */
export interface Slice {
  readonly from: number;
  readonly to: number;
}

/** A simulated run that broke a rule. */
export interface Violation {
  readonly seed: number;
  readonly rule: string;
  readonly detail: string;
}

/** The sum of the results of several runs. */
export interface Outcome {
  readonly events: number;
  readonly grants: number;
  readonly violations: readonly Violation[];
}

/**
 * The progress of a search for violations over many seeds. It is stored in a file, so that the search can be
 * stopped and resumed.
 */
export interface Progress extends Outcome {
  readonly store: string;
  /** The commit whose code was simulated. Results of other commits do not count. */
  readonly revision: string;
  /** The seeds whose runs are done, as sorted ranges that neither overlap nor touch. */
  readonly played: readonly Slice[];
}

export function noProgress(store: string, revision: string): Progress {
  return { store, revision, played: [], events: 0, grants: 0, violations: [] };
}

export function withSlice(progress: Progress, slice: Slice, outcome: Outcome): Progress {
  return {
    ...progress,
    played: union([...progress.played, slice]),
    events: progress.events + outcome.events,
    grants: progress.grants + outcome.grants,
    violations: [...progress.violations, ...outcome.violations].toSorted(
      (one, other) => one.seed - other.seed,
    ),
  };
}

/** Returns the seeds of a range that were not run yet, in slices of at most `size` seeds. */
export function slicesLeft({ played }: Pick<Progress, 'played'>, { from, to }: Slice, size: number): Slice[] {
  const left: Slice[] = [];
  let next = from;
  for (const done of [...played, { from: to, to }]) {
    for (; next < Math.min(done.from, to); next = Math.min(next + size, done.from, to))
      left.push({ from: next, to: Math.min(next + size, done.from, to) });
    next = Math.max(next, done.to);
  }
  return left;
}

export function countSeeds({ played }: Pick<Progress, 'played'>): number {
  return played.reduce((sum, { from, to }) => sum + to - from, 0);
}

function union(slices: readonly Slice[]): Slice[] {
  const merged: Slice[] = [];
  for (const slice of slices.toSorted((one, other) => one.from - other.from)) {
    const last = merged.at(-1);
    if (last && slice.from <= last.to)
      merged.splice(-1, 1, { from: last.from, to: Math.max(last.to, slice.to) });
    else merged.push(slice);
  }
  return merged;
}
