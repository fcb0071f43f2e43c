import type { Rule } from '../src/run/rule.ts';
import type { StoreName } from '../src/run/plan.ts';
import { planOf } from '../src/run/plan-of.ts';
import { play } from '../src/run/play.ts';
import { alteredProduct } from './altered-product.ts';
import type { Mutant } from './mutant.ts';

/** Maximum number of simulated runs for one mutant. A rule must detect the defect within them. */
export const MAX_RUNS = 10_000;

/** The result of the simulated runs with one mutant. */
export interface KillResult {
  /** The rule whose violation detected the mutant, or `undefined` if none did. */
  readonly broken: Rule | undefined;
  readonly runs: number;
}

/** Simulates runs with the mutant, from the seed `seed` on, until a rule is violated. */
export async function killMutant(
  { alterations }: Mutant,
  {
    store,
    first,
    most = MAX_RUNS,
  }: { readonly store: StoreName; readonly first: number; readonly most?: number },
): Promise<KillResult> {
  const altered = await alteredProduct(alterations);
  for (let seed = first; seed < first + most; seed += 1) {
    const { broken } = await play(altered, planOf(seed, store));
    if (broken) return { broken, runs: seed - first + 1 };
  }
  return { broken: undefined, runs: most };
}
