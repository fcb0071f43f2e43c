import { checkBeliefs } from './check/beliefs.ts';
import { checkFenced } from './check/fenced.ts';
import type { Breach, Finding } from './check/finding.ts';
import { checkCleanHandOvers, checkCrashes } from './check/hand-over.ts';
import { checkLeftOvers, checkMemory, checkProcesses } from './check/health.ts';
import type { Limits } from './check/limits.ts';
import { numbersOf, type Numbers } from './check/numbers.ts';
import { checkOrder } from './check/order.ts';
import type { Run } from './check/run.ts';
import { checkStory } from './check/story.ts';
import { checkStuck } from './check/stuck.ts';
import { checkTogether } from './check/together.ts';

export interface Verdict {
  /** By time; empty if the run was right. */
  readonly findings: readonly Finding[];
  readonly numbers: Numbers;
}

const CHECKS: readonly ((run: Run, limits: Limits) => Breach[])[] = [
  checkStory,
  checkFenced,
  checkBeliefs,
  checkOrder,
  checkTogether,
  checkCrashes,
  checkCleanHandOvers,
  checkStuck,
  checkLeftOvers,
  checkProcesses,
  checkMemory,
];

/** Judges a run; see `readRun` and `runOf` for where it comes from. */
export function check(run: Run, limits: Limits): Verdict {
  const breaches = CHECKS.flatMap((invariant) => invariant(run, limits)).sort((a, b) => a.at - b.at);
  const findings = breaches.map((breach): Finding => ({ ...breach, at: run.stampOf(breach.at), events: [] }));
  return { findings: [...run.oddities, ...findings], numbers: numbersOf(run) };
}
