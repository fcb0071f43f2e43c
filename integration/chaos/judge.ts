import { check, type Verdict } from './check.ts';
import { believedUntil } from './check/holds.ts';
import type { Limits } from './check/limits.ts';
import { numbersOf } from './check/numbers.ts';
import type { Fault, Queue, Run } from './check/run.ts';

export interface Terms {
  readonly limits: Limits;
  /** Queues that an operator reached into. Removals are faults whose target is the queue. */
  readonly operated: ReadonlySet<string>;
  /** A holder that cannot hear of its removal may believe until its time is up. */
  readonly ttlMs: number;
}

/** The verdict on a run: whoever was removed by an operator may have been surprised by that, and nobody else. */
export function judge(run: Run, { limits, operated, ttlMs }: Terms): Verdict {
  const untouched = { ...run, queues: run.queues.filter(({ name }) => !operated.has(name)) };
  const touched = { ...run, queues: run.queues.filter(({ name }) => operated.has(name)), oddities: [] };
  for (const queue of touched.queues)
    markRemoved(
      queue,
      run.faults.filter(({ target }) => target === queue.name),
    );
  const { findings } = check(untouched, limits);
  const surprises = check(touched, { ...limits, evictionMs: ttlMs }).findings;
  const all = [...findings, ...surprises.filter(({ queue }) => queue !== undefined)];
  return {
    findings: all.sort((a, b) => (BigInt(a.at) < BigInt(b.at) ? -1 : 1)),
    // Where somebody else lets the next one in, the time until then says nothing about us.
    numbers: { ...numbersOf(run), gaps: numbersOf(untouched).gaps },
  };
}

/** Not everybody hears of it: some release before. */
function markRemoved({ holds }: Queue, removals: readonly Fault[]): void {
  for (const { from, to } of removals)
    for (const hold of holds)
      if (hold.from <= to && believedUntil(hold) >= from) hold.attempt.why = 'entry-removed';
}
