// Runs the checks of multi.test.ts with groups of three clients, with more random plans, and with a new seed
// each time.
//
//   MULTI_RUNS=20000 node_modules/.bin/mocha packages/core/test/multi.long.ts (about 5 minutes)
//   MULTI_SEED=... repeats the same plans
import { randomInt } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { allClaims, combinations, explore } from './multi/order-rule.ts';
import { anyPlan } from './multi/plan.ts';
import { play } from './multi/play.ts';

const RUNS = Number(process.env['MULTI_RUNS'] ?? 1_000);

describe('claims of several queues', () => {
  const groups = combinations(allClaims(['x', 'y', 'z']), 3);

  it(`have no deadlock when each of three claims enters its queues in one step (${groups.length} groups)`, () => {
    let states = 0;
    for (const group of groups) {
      const seen = explore(group, 'at one point');
      states += seen.states;
      expect([seen.circle, seen.standstill], JSON.stringify(group)).to.deep.equal([false, false]);
    }
    expect(states).to.be.above(100_000);
  }).timeout(120_000);
});

describe('random plans of clients that take several names', () => {
  it(`keep exclusion, finish every task, and leave no entry (${RUNS} plans of a new seed)`, async () => {
    const wellBehaved = fc.asyncProperty(anyPlan, async (plan) => {
      expect(await play(plan, 'together')).to.deep.equal([]);
    });
    const seed = Number(process.env['MULTI_SEED'] ?? randomInt(2 ** 31));
    await fc.assert(wellBehaved, { numRuns: RUNS, seed });
  }).timeout(0);
});
