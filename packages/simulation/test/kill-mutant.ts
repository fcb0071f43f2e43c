import type { Rule } from '../src/run/judge.ts';
import type { StoreName } from '../src/run/plan.ts';
import { planOf } from '../src/run/plan-of.ts';
import { play } from '../src/run/play.ts';
import { alteredProduct } from './altered-product.ts';
import type { Mutant } from './mutant.ts';

/** In which every mutant is to be noticed. */
export const MAX_RUNS = 10_000;

/** What came of the killing of a mutant. */
export interface KillResult {
  /** The first rule that noticed it. */
  readonly broken: Rule | undefined;
  readonly runs: number;
}

/** Plays runs from that seed on with the mutant, until a rule notices it. */
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
