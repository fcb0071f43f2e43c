import { check, type Verdict } from '@queuelock/harness/check';
import type { Limits } from '@queuelock/harness/check/limits';
import { numbersOf } from '@queuelock/harness/check/numbers';
import type { Run } from '@queuelock/harness/check/run';

export interface Terms {
  readonly limits: Limits;
  /** Queues in which an operator removed entries. */
  readonly operated: ReadonlySet<string>;
  /**
   * TTL in milliseconds. A holder that cannot be notified of its removal may believe that it holds until its
   * proven time is over.
   */
  readonly ttlMs: number;
}

/** Checks a run. Violations that follow from an operator's removal of an entry are excused, and no others. */
export function judge(run: Run, { limits, operated, ttlMs }: Terms): Verdict {
  const untouched = { ...run, queues: run.queues.filter(({ name }) => !operated.has(name)) };
  const { findings, numbers } = check(run, { ...limits, evictionMs: ttlMs });
  // Measures hand-offs only in queues without removals. Where an operator removed an entry, the removal
  // admitted the next waiter, so the time between two holds is no hand-off of queuelock.
  return { findings, numbers: { ...numbers, gaps: numbersOf(untouched).gaps } };
}
