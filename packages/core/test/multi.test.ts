// Shows that multi-locks cannot deadlock. The tests of claims explore, in a model without the core, all
// orders in which claims can enter their queues. The tests of random plans run the core with random failures.
// multi.long.ts explores groups of three claims, and runs more plans.
import { expect } from 'chai';
import fc from 'fast-check';
import {
  allClaims,
  combinations,
  crosses,
  explore,
  type Entering,
  type NameClaim,
} from './multi/order-rule.ts';
import { anyPlan, calmPlan, type Plan } from './multi/plan.ts';
import { play } from './multi/play.ts';

const RUNS = 50;

describe('claims of several queues', () => {
  const specs = allClaims(['x', 'y', 'z']);
  it('have no deadlock when each of two claims enters its queues in one step', () => {
    for (const group of combinations(specs, 2)) {
      const { circle, standstill } = explore(group, 'at one point');
      expect([circle, standstill], JSON.stringify(group)).to.deep.equal([false, false]);
    }
  });

  const stuck = (group: readonly NameClaim[], entering: Entering): boolean => {
    const { circle, standstill } = explore(group, entering);
    expect(circle, 'a circle is what a standstill is made of').to.equal(standstill);
    return standstill;
  };

  it('can deadlock when two claims wait in the same queues in opposite order', () => {
    const pairs = combinations(specs, 2).filter((group) => stuck(group, 'one by one'));
    const crossing = ([one, other]: readonly NameClaim[]): boolean => !one!.shared || !other!.shared;
    expect(pairs.every((group) => crosses(group) && crossing(group))).to.equal(true);
    expect(pairs).to.have.length.above(40);
    const ring = ['xy', 'yz', 'zx'].map((names) => ({ names: names.split(''), shared: false }));
    expect([crosses(ring), stuck(ring, 'one by one')], 'three, of which no two cross').to.deep.equal([
      true,
      true,
    ]);
    expect(ring.map((_, at) => stuck(ring.toSpliced(at, 1), 'one by one'))).to.deep.equal([
      false,
      false,
      false,
    ]);
  });

  it('can deadlock when each claim enters its queues one by one and waits afterwards', () => {
    for (const group of combinations(specs, 2)) {
      const [one, other] = group as [NameClaim, NameClaim];
      const common = one.names.filter((name) => other.names.includes(name));
      const conflicting = common.length > 1 && !(one.shared && other.shared);
      expect(stuck(group, 'one by one without waiting'), JSON.stringify(group)).to.equal(conflicting);
    }
  });
});

describe('random plans of clients that take several names', () => {
  const wellBehaved = async (plan: Plan): Promise<void> => {
    expect(await play(plan, 'together')).to.deep.equal([]);
  };

  it(`keep exclusion, finish every task, and leave no entry (${RUNS} plans)`, async () => {
    await fc.assert(fc.asyncProperty(anyPlan, wellBehaved), { numRuns: RUNS, seed: 1 });
  });

  it('include a plan that deadlocks when clients take locks one by one, but not with multi-locks', async () => {
    const ends = fc.asyncProperty(calmPlan, async (plan) => (await play(plan, 'one by one')).length === 0);
    const { failed, counterexample, numRuns } = await fc.check(ends, {
      seed: 1,
      numRuns: 100,
      endOnFailure: true,
    });
    expect([failed, numRuns < 100]).to.deep.equal([true, true]);
    const [plan] = counterexample!;
    expect((await play(plan, 'one by one')).join()).to.include('no outcome');
    await wellBehaved(plan);
  });
});
