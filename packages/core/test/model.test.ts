// Runs random histories of three clients that contend for two names. Backend, network and clocks are
// simulated, in virtual time. Faults are lost and late messages, clocks of different rates, frozen machines,
// refused requests, evictions and expired sessions. Clients also abort claims, unsubscribe from them, release
// their holds, and close.
//
// After each event the rules of model/judge.ts are checked. A seed always generates the same histories, and a
// history always runs the same way. A failure prints its seed, its smallest counterexample and its events.
// model.long.ts runs more histories, and histories with each seeded defect.
import { expect } from 'chai';
import fc from 'fast-check';
import * as core from '../src/index.ts';
import { alteredCore } from './model/altered-core.ts';
import { DEFECTS } from './model/defects.ts';
import { FOUND } from './model/found.ts';
import { assertKeepsRules } from './model/keeps-rules.ts';
import { play } from './model/history.ts';
import { anyHistory } from './model/plan.ts';

const RUNS = 100;

describe('a random history of clients, faults and an operator', () => {
  it(`keeps every rule of judge.ts (${RUNS} histories)`, async () => {
    await fc.assert(fc.asyncProperty(anyHistory, assertKeepsRules), { numRuns: RUNS, seed: 1 });
  });

  it('runs the same way when it is repeated', async () => {
    for (const history of fc.sample(anyHistory, { seed: 1, numRuns: 25 })) {
      const { trace } = await play(core, history);
      expect((await play(core, history)).trace).to.deep.equal(trace);
    }
  });
});

describe('a history that failed once', () => {
  for (const { fact, mutant, history } of FOUND) {
    it(`passes: ${fact}`, async () => {
      expect((await play(core, history)).broken).to.equal(undefined);
      const defect = DEFECTS.find(({ what }) => what === mutant);
      const altered = await alteredCore(defect!.alterations ?? []);
      expect((await play(altered, history)).broken, 'with the mutant').to.be.oneOf([...defect!.killedBy]);
    });
  }
});
