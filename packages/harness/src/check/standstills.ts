import type { Run, Span } from './run.ts';

/** A fault of this kind: nobody did anything meanwhile, since the machine had other things to do. */
export const STANDSTILL = 'standstill';

/** Members that heard nothing of each other for so long may choose another leader when they go on. */
const LONG_NS = 1e9;

/** One that cost its length, and nothing after it. */
export function isBrief({ what, from, to }: Span & { readonly what?: string }): boolean {
  return what === STANDSTILL && to - from < LONG_NS;
}

/** How much of this time the machine stood still, in nanoseconds. */
export function stoodStill({ faults }: Run, { from, to }: Span): number {
  return standstillsOf(faults).reduce(
    (sum, still) => sum + Math.max(0, Math.min(still.to, to) - Math.max(still.from, from)),
    0,
  );
}

/** The longest of them, in nanoseconds. */
export function longestStandstill({ faults }: Run): number {
  return Math.max(0, ...standstillsOf(faults).map(({ from, to }) => to - from));
}

function standstillsOf(faults: Run['faults']): Run['faults'] {
  return faults.filter(({ what }) => what === STANDSTILL);
}
