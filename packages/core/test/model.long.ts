// Runs random histories as model.test.ts does, but more of them and with a new seed each time. Also runs
// random histories with each seeded defect, until a rule detects the defect.
//
//   MODEL_RUNS=100000 node_modules/.bin/mocha packages/core/test/model.long.ts -g 'a random history' (5 minutes)
//   MODEL_SEED=... repeats the same histories
import { randomInt } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { DEFECTS } from './model/defects.ts';
import { assertKeepsRules } from './model/keeps-rules.ts';
import { killMutant } from './model/kill-mutant.ts';
import { RULES } from './model/judge.ts';
import { anyHistory } from './model/plan.ts';

const RUNS = Number(process.env['MODEL_RUNS'] ?? 3_000);
/**
 * Maps the title of a defect to a seed of the random histories. With this seed, one of the first histories
 * reveals the defect. With the default seed 1 it would take many histories.
 */
const LATE: Readonly<Record<string, number>> = {
  'a lock is granted without a read of the clock': 11,
  'a refused enqueue is followed by a removal, whose refusal ends the session': 2,
  'a session that opens after the client was closed stays': 4,
};

describe('a random history of clients, faults and an operator', () => {
  it(`keeps every rule of judge.ts (${RUNS} histories)`, async () => {
    const seed = Number(process.env['MODEL_SEED'] ?? randomInt(2 ** 31));
    await fc.assert(fc.asyncProperty(anyHistory, assertKeepsRules), { numRuns: RUNS, seed });
  }).timeout(0);
});

describe('the rules of judge.ts, on histories with seeded defects, detect that', () => {
  const noticing = new Set<unknown>();

  for (const defect of DEFECTS) {
    it(defect.what, async function () {
      const { broken, histories } = await killMutant(defect, LATE[defect.what] ?? 1);
      expect(defect.killedBy).to.include(broken);
      noticing.add(broken);
      this.test!.title += `: ${String(broken)} (history ${histories})`;
    });
  }

  it('at least one seeded defect breaks each rule of judge.ts', () => {
    expect([...noticing].sort()).to.deep.equal(Object.keys(RULES).sort());
  });
});
