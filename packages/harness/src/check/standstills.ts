import type { Run, Span } from './run.ts';

/** Kind of a fault in which the whole machine stalled, so that no process ran. */
export const STANDSTILL = 'standstill';

/**
 * Length in nanoseconds from which a standstill of the machine counts as a server fault. After a second
 * without messages, the servers of a cluster may elect another leader.
 */
const LONG_NS = 1e9;

/**
 * Returns whether a standstill is too short to cause an election, so that it delays the processes by its own
 * length only.
 */
export function isBrief({ what, from, to }: Span & { readonly what?: string }): boolean {
  return what === STANDSTILL && to - from < LONG_NS;
}

/** Returns for how many nanoseconds of this period the whole machine stood still. */
export function standstillDuration({ faults }: Run, { from, to }: Span): number {
  return standstillsOf(faults).reduce(
    (sum, still) => sum + Math.max(0, Math.min(still.to, to) - Math.max(still.from, from)),
    0,
  );
}

/** Returns the length in nanoseconds of the longest standstill of the whole machine. */
export function longestStandstill({ faults }: Run): number {
  return Math.max(0, ...standstillsOf(faults).map(({ from, to }) => to - from));
}

function standstillsOf(faults: Run['faults']): Run['faults'] {
  return faults.filter(({ what }) => what === STANDSTILL);
}
