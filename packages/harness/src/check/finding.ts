import type { ChaosEvent } from './event.ts';

/** The invariants, by their usual names; `story`: a history that no run of any lock can have. */
export const INVARIANTS = ['S1', 'S2', 'S3', 'F1', 'L1', 'L2', 'L3', 'L4', 'L5', 'L6', 'story'] as const;
export type Invariant = (typeof INVARIANTS)[number];

/** Of exclusion, order and tokens: no machine is slow enough for that. */
const SAFETY: ReadonlySet<Invariant> = new Set(['S1', 'S2', 'S3', 'F1', 'story']);

export function isUnsafe({ rule }: Pick<Finding, 'rule'>): boolean {
  return SAFETY.has(rule);
}

/** One violation. */
export interface Finding {
  readonly rule: Invariant;
  readonly queue?: string;
  /** The attempt that was wrong, or wronged, by name. */
  readonly attempt?: string;
  /** What happened, with the attempts by name (`worker-3#17`) and the amounts. */
  readonly message: string;
  /** When, as a stamp like those of the events. */
  readonly at: string;
  /** What happened around it; empty until `withEvents` has looked it up. */
  readonly events: readonly ChaosEvent[];
}

/** A finding as a check makes it, before it is dressed. */
export interface Breach {
  readonly rule: Invariant;
  readonly queue?: string;
  readonly attempt?: string;
  readonly message: string;
  /** In the time of the run. */
  readonly at: number;
}

/** `12.345 ms` of nanoseconds. */
export function msOf(ns: number): string {
  return `${(ns / 1e6).toFixed(3)} ms`;
}
