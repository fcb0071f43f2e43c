import type { Product } from '../product.ts';
import type { Rule } from './rule.ts';
import type { ClientPlan, Plan } from './plan.ts';
import { play, type Played } from './play.ts';

/**
 * Removes faults, clients and steps from a plan as long as its run violates the same rule. Returns the
 * smallest plan that was found, and the result of its run.
 */
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

/**
 * Returns plans that each lack one part of the given plan, the largest part first. A client without steps
 * keeps its index, because faults refer to clients by index.
 */
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
