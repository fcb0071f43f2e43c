import type { Product } from '../product.ts';
import type { Rule } from './judge.ts';
import type { ClientPlan, Plan } from './plan.ts';
import { play, type Played } from './play.ts';

/** A smaller plan that breaks the same rule, and what came of it: without faults, clients and steps that have no part in it. */
export async function shrink(
  product: Product,
  plan: Plan,
  broken: Rule,
): Promise<{ readonly plan: Plan; readonly played: Played }> {
  let best = { plan, played: await play(product, plan) };
  for (let candidates = smaller(plan); candidates.length > 0;) {
    const [next, ...rest] = candidates;
    const played = await play(product, next as Plan);
    if (played.broken === broken) best = { plan: next as Plan, played };
    candidates = played.broken === broken ? smaller(best.plan) : rest;
  }
  return best;
}

/** The same plan with one thing less, the largest first. A client that does nothing keeps its place, since faults name it by that. */
function smaller(plan: Plan): Plan[] {
  const { faults, clients } = plan;
  const withLanes = (i: number, lanes: ClientPlan['lanes']): Plan => ({
    ...plan,
    clients: clients.map((client, j) => (i === j ? { ...client, lanes } : client)),
  });
  return [
    ...clients.flatMap(({ lanes }, i) => (lanes.length > 0 ? [withLanes(i, [])] : [])),
    ...faults.map((_, i) => ({ ...plan, faults: faults.filter((_fault, j) => i !== j) })),
    ...clients.flatMap(({ lanes }, i) =>
      lanes.flatMap((lane, j) => [
        withLanes(i, lanes.toSpliced(j, 1)),
        ...lane.map((_, k) => withLanes(i, lanes.with(j, lane.toSpliced(k, 1)))),
      ]),
    ),
  ];
}
