import { check, type Verdict } from '@queuelock/harness/check';
import type { Limits } from '@queuelock/harness/check/limits';
import { numbersOf } from '@queuelock/harness/check/numbers';
import type { Run } from '@queuelock/harness/check/run';

export interface Terms {
  readonly limits: Limits;
  /** Queues in which an operator removed entries. */
  readonly operated: ReadonlySet<string>;
  /**
   * TTL in milliseconds. A holder that cannot be notified of its removal may believe until its proven time is
   * over.
   */
  readonly ttlMs: number;
}

/** Checks a run. Workers whose entries an operator removed are excused, and no others. */
export function judge(run: Run, { limits, operated, ttlMs }: Terms): Verdict {
  const untouched = { ...run, queues: run.queues.filter(({ name }) => !operated.has(name)) };
  const { findings, numbers } = check(run, { ...limits, evictionMs: ttlMs });
  // Leaves out the gaps of queues with removals: there a removal by the operator admits the next waiter, and
  // no hand-off of the product does.
  return { findings, numbers: { ...numbers, gaps: numbersOf(untouched).gaps } };
}
