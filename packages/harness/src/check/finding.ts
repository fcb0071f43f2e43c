import type { ChaosEvent } from './event.ts';

/**
 * Ids of the rules. S1: fenced writes. S2: exclusion. S3: the end of lost holds. F1: the order of grants. L1: grants after a crash. L2: hand-offs
 * without faults. L3: no waiter waits for ever. L4: nothing remains on servers. L5: processes and event loops. L6: memory. `story`: events that
 * contradict each other, whatever the lock does.
 */
export const INVARIANTS = ['S1', 'S2', 'S3', 'F1', 'L1', 'L2', 'L3', 'L4', 'L5', 'L6', 'story'] as const;
export type Invariant = (typeof INVARIANTS)[number];

/** Rules about exclusion, order and tokens. A slow machine is no excuse for breaking one of these. */
const SAFETY: ReadonlySet<Invariant> = new Set(['S1', 'S2', 'S3', 'F1', 'story']);

export function isUnsafe({ rule }: Pick<Finding, 'rule'>): boolean {
  return SAFETY.has(rule);
}

/** A violation of a rule. */
export interface Finding {
  readonly rule: Invariant;
  readonly queue?: string;
  /** Name of the attempt that broke the rule, or that was harmed. */
  readonly attempt?: string;
  /** What happened, with names of attempts (`worker-3#17`) and measured values. */
  readonly message: string;
  /** The time of the violation, in nanoseconds of the machine's monotonic clock, as a decimal string. */
  readonly at: string;
  /** The events around the violation; empty until `withEvents` adds them. */
  readonly events: readonly ChaosEvent[];
}

/**
 * A violation as the check of one rule returns it, without the events around it. Its time is in nanoseconds
 * since the beginning of the run.
 */
export interface Breach {
  readonly rule: Invariant;
  readonly queue?: string;
  readonly attempt?: string;
  readonly message: string;
  /** Time of the violation, in nanoseconds since the beginning of the run. */
  readonly at: number;
}

/** Formats nanoseconds as `12.345 ms`. */
export function msOf(ns: number): string {
  return `${(ns / 1e6).toFixed(3)} ms`;
}
