import fc from 'fast-check';
import { alteredCore } from './altered-core.ts';
import type { Defect } from './defects/defect.ts';
import { play } from './history.ts';
import type { Rule } from './judge.ts';
import { anyHistory } from './plan.ts';

// Number of histories after which the search gives up. At present every defect is detected within some hundred histories of any seed.
const MAX_HISTORIES = 4_000;

/** The result of the search for a defect. */
export interface KillResult {
  /** The first rule that detected the defect. */
  readonly broken: Rule | undefined;
  readonly histories: number;
}

/** Plays histories of this seed with the defect until a rule detects it. */
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
