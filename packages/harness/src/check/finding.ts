import type { ChaosEvent } from './event.ts';

/**
 * Ids of the rules; `story`: a history that no run of any lock can have. S1: fenced writes. S2: exclusion. S3: end of lost holds. F1: order of
 * grants. L1: grants after a crash. L2: hand-offs without faults. L3: no waiter is left. L4: nothing is left over. L5: processes and event loops. L6:
 * memory.
 */
export const INVARIANTS = ['S1', 'S2', 'S3', 'F1', 'L1', 'L2', 'L3', 'L4', 'L5', 'L6', 'story'] as const;
export type Invariant = (typeof INVARIANTS)[number];

/** Rules about exclusion, order and tokens, which a slow machine cannot break. */
const SAFETY: ReadonlySet<Invariant> = new Set(['S1', 'S2', 'S3', 'F1', 'story']);

export function isUnsafe({ rule }: Pick<Finding, 'rule'>): boolean {
  return SAFETY.has(rule);
}

/** A violation of a rule. */
export interface Finding {
  readonly rule: Invariant;
  readonly queue?: string;
  /** Name of the attempt that broke the rule, or suffered from it. */
  readonly attempt?: string;
  /** Description with the names of the attempts (`worker-3#17`) and the amounts. */
  readonly message: string;
  /** Stamp of the violation. */
  readonly at: string;
  /** Events around the violation; empty until `withEvents` has added them. */
  readonly events: readonly ChaosEvent[];
}

/** A finding as a check returns it, before the events are added. */
export interface Breach {
  readonly rule: Invariant;
  readonly queue?: string;
  readonly attempt?: string;
  readonly message: string;
  /** Time of the violation, in nanoseconds of the run. */
  readonly at: number;
}

/** Formats nanoseconds as `12.345 ms`. */
export function msOf(ns: number): string {
  return `${(ns / 1e6).toFixed(3)} ms`;
}
