import { check, type Verdict } from '@queuelock/harness/check';
import type { Limits } from '@queuelock/harness/check/limits';
import { numbersOf } from '@queuelock/harness/check/numbers';
import type { Run } from '@queuelock/harness/check/run';

export interface Terms {
  readonly limits: Limits;
  /** Queues that an operator reached into. */
  readonly operated: ReadonlySet<string>;
  /** A holder that cannot hear of its removal may believe until its time is up. */
  readonly ttlMs: number;
}

/** The verdict on a run: whoever was removed by an operator may have been surprised by that, and nobody else. */
export function judge(run: Run, { limits, operated, ttlMs }: Terms): Verdict {
  const untouched = { ...run, queues: run.queues.filter(({ name }) => !operated.has(name)) };
  const { findings, numbers } = check(run, { ...limits, evictionMs: ttlMs });
  // Where somebody else lets the next one in, the time until then says nothing about us.
  return { findings, numbers: { ...numbers, gaps: numbersOf(untouched).gaps } };
}
