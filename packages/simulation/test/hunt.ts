import type { Rule } from '../src/run/judge.ts';
import type { StoreName } from '../src/run/plan.ts';
import { planOf } from '../src/run/plan-of.ts';
import { play } from '../src/run/play.ts';
import { alteredProduct } from './altered-product.ts';
import type { Mistake } from './mistake.ts';

/** In which every mistake is to be noticed. */
export const MOST_RUNS = 10_000;

/** What came of the hunt for a mistake. */
export interface Hunt {
  /** The first rule that noticed it. */
  readonly broken: Rule | undefined;
  readonly runs: number;
}

/** Plays runs from that seed on with the mistake, until a rule notices it. */
export async function hunt(
  { alterations }: Mistake,
  {
    store,
    first,
    most = MOST_RUNS,
  }: { readonly store: StoreName; readonly first: number; readonly most?: number },
): Promise<Hunt> {
  const altered = await alteredProduct(alterations);
  for (let seed = first; seed < first + most; seed += 1) {
    const { broken } = await play(altered, planOf(seed, store));
    if (broken) return { broken, runs: seed - first + 1 };
  }
  return { broken: undefined, runs: most };
}
