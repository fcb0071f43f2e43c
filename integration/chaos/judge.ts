import { check, type Verdict } from '@queuelock/harness/check';
import type { Limits } from '@queuelock/harness/check/limits';
import { numbersOf } from '@queuelock/harness/check/numbers';
import type { Run } from '@queuelock/harness/check/run';

export interface Terms {
  readonly limits: Limits;
  /** Queues in which an operator removed entries. */
  readonly operated: ReadonlySet<string>;
  /** A holder that cannot be notified of its removal may believe until its time is over. */
  readonly ttlMs: number;
}

/** Checks a run: workers whose entries an operator removed are excused, and no others. */
export function judge(run: Run, { limits, operated, ttlMs }: Terms): Verdict {
  const untouched = { ...run, queues: run.queues.filter(({ name }) => !operated.has(name)) };
  const { findings, numbers } = check(run, { ...limits, evictionMs: ttlMs });
  // When an operator admits the next one, the gap is not caused by the product.
  return { findings, numbers: { ...numbers, gaps: numbersOf(untouched).gaps } };
}
