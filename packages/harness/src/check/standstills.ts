import type { Run, Span } from './run.ts';

/** Kind of a fault in which the whole machine stalled, so that no process ran. */
export const STANDSTILL = 'standstill';

/** Time in nanoseconds. Members that received nothing from each other for that long may elect another leader when they resume. */
const LONG_NS = 1e9;

/** Returns whether a standstill is so short that it costs only its own length and has no later effects. */
export function isBrief({ what, from, to }: Span & { readonly what?: string }): boolean {
  return what === STANDSTILL && to - from < LONG_NS;
}

/** Returns how much of this time the machine stood still, in nanoseconds. */
export function standstillDuration({ faults }: Run, { from, to }: Span): number {
  return standstillsOf(faults).reduce(
    (sum, still) => sum + Math.max(0, Math.min(still.to, to) - Math.max(still.from, from)),
    0,
  );
}

/** Returns the length of the longest standstill in nanoseconds. */
export function longestStandstill({ faults }: Run): number {
  return Math.max(0, ...standstillsOf(faults).map(({ from, to }) => to - from));
}

function standstillsOf(faults: Run['faults']): Run['faults'] {
  return faults.filter(({ what }) => what === STANDSTILL);
}
