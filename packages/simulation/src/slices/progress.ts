/** Seeds from `from` up to, not including, `to`. */
export interface Slice {
  readonly from: number;
  readonly to: number;
}

/** A run that broke a rule. */
export interface Violation {
  readonly seed: number;
  readonly rule: string;
  readonly detail: string;
}

/** What the runs of some seeds came to. */
export interface Outcome {
  readonly events: number;
  readonly grants: number;
  readonly violations: readonly Violation[];
}

/** All that was played so far. Kept in a file, so that a long search can be stopped and resumed. */
export interface Progress extends Outcome {
  readonly store: string;
  /** The commit that was played. Runs of another one say nothing about it. */
  readonly revision: string;
  /** Sorted, without overlaps and without neighbours that touch. */
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

/** Returns the seeds that are left of a range, in slices of at most `size`. */
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
