import fc from 'fast-check';
import { alteredCore } from './altered-core.ts';
import type { Defect } from './defects/defect.ts';
import { play } from './history.ts';
import type { Rule } from './judge.ts';
import { anyHistory } from './plan.ts';

// Number of histories after which the search for a broken rule ends without a result. At present every defect
// is detected within a few hundred histories.
const MAX_HISTORIES = 4_000;

/** The rule that detected a seeded defect, and how many histories ran until then. */
export interface KillResult {
  /** The first rule that the defect broke, or `undefined` if no history broke any. */
  readonly broken: Rule | undefined;
  readonly histories: number;
}

/**
 * Runs random histories against the defect until one of them breaks a rule. The seed determines the
 * histories.
 */
export async function killMutant({ alterations = [], spoil }: Defect, seed: number): Promise<KillResult> {
  const altered = await alteredCore(alterations);
  let broken: Rule | undefined;
  const property = fc.asyncProperty(anyHistory, async (history) => {
    ({ broken } = await play(altered, history, spoil));
    return broken === undefined;
  });
  const { numRuns } = await fc.check(property, { numRuns: MAX_HISTORIES, endOnFailure: true, seed });
  return { broken, histories: numRuns };
}
