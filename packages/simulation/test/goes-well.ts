import { SafetyViolation } from '../../../integration/safety.ts';
import type { Product } from '../src/product.ts';
import { RULES, UNSAFE } from '../src/run/judge.ts';
import type { StoreName } from '../src/run/plan.ts';
import { planOf } from '../src/run/plan-of.ts';
import { play, type Played } from '../src/run/play.ts';
import { shrink } from '../src/run/shrink.ts';

/** Plays the run of a seed; throws its story if it breaks a rule, of a run that is as small as it could be made. */
export async function goesWell(
  product: Product,
  { seed, store }: { readonly seed: number; readonly store: StoreName },
): Promise<Played> {
  const plan = planOf(seed, store);
  const played = await play(product, plan);
  const { broken } = played;
  if (!broken) return played;
  const small = await shrink(product, plan, broken);
  const story = [
    `seed ${seed} on ${store} breaks "${broken}": ${RULES[broken]}`,
    `${plan.members} members of ${plan.version}; what is left of the plan:`,
    JSON.stringify({ clients: small.plan.clients, faults: small.plan.faults }),
    ...small.played.story,
  ].join('\n');
  throw UNSAFE.has(broken) ? new SafetyViolation(story) : new Error(story);
}
