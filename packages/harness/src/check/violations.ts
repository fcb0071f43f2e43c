import type { Violation } from '../timeline/scene.ts';
import type { Finding } from './finding.ts';
import type { Run } from './run.ts';

/** Converts findings of the checker to violations, which the timeline (the drawing of a run) marks. */
export function violationsOf(run: Run, findings: readonly Finding[]): Violation[] {
  return findings.map(({ rule, message, attempt, at }) => ({
    rule,
    message,
    attempts: attempt === undefined ? [] : [attempt],
    at: run.momentOf(at),
  }));
}
