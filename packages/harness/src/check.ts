import { checkBeliefs } from './check/beliefs.ts';
import { checkFenced } from './check/fenced.ts';
import type { Breach, Finding } from './check/finding.ts';
import { checkCleanHandOvers, checkCrashes } from './check/hand-over.ts';
import { checkLeftOvers, checkMemory, checkProcesses } from './check/health.ts';
import type { Limits } from './check/limits.ts';
import { numbersOf, type Numbers } from './check/numbers.ts';
import { checkOrder } from './check/order.ts';
import type { Run } from './check/run.ts';
import { checkStory, checkWhole } from './check/story.ts';
import { checkStuck } from './check/stuck.ts';
import { checkTogether } from './check/together.ts';

export interface Verdict {
  /** The violations of rules, by time; empty if the run was correct. */
  readonly findings: readonly Finding[];
  readonly numbers: Numbers;
}

type Check<L> = (run: Run, limits: L) => Breach[];
type SafetyLimits = Pick<Limits, 'evictionMs'>;

const SAFETY_CHECKS: readonly Check<SafetyLimits>[] = [
  checkStory,
  checkFenced,
  checkBeliefs,
  checkOrder,
  checkTogether,
];
const CHECKS: readonly Check<Limits>[] = [
  checkWhole,
  ...SAFETY_CHECKS,
  checkCrashes,
  checkCleanHandOvers,
  checkStuck,
  checkLeftOvers,
  checkProcesses,
  checkMemory,
];

/**
 * Checks a recorded run against all rules of the checker. Also returns the counts and measurements of the
 * run.
 */
export function check(run: Run, limits: Limits): Verdict {
  const breaches = CHECKS.flatMap((invariant) => invariant(run, limits));
  return { findings: findingsOf(run, breaches), numbers: numbersOf(run) };
}

/**
 * Checks only the rules of exclusion, order and tokens, and whether events contradict each other. The run may
 * have been cut short at any moment, so events may be missing at its end.
 */
export function checkSafety(run: Run, limits: SafetyLimits): readonly Finding[] {
  const breaches = SAFETY_CHECKS.flatMap((invariant) => invariant(run, limits));
  return findingsOf(run, breaches);
}

function findingsOf(run: Run, breaches: readonly Breach[]): Finding[] {
  const inOrder = [...breaches].sort((a, b) => a.at - b.at);
  const findings = inOrder.map((breach): Finding => ({ ...breach, at: run.stampOf(breach.at), events: [] }));
  return [...run.oddities, ...findings];
}
