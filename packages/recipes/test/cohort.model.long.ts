// Plays more generated histories than cohort.model.test.ts, with another seed in each run.
//
//   MODEL_RUNS=5000 node_modules/.bin/mocha packages/recipes/test/cohort.model.long.ts
import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { anyCohortHistory } from './cohort-history.ts';

const RUNS = Number(process.env['MODEL_RUNS'] ?? 500);

describe('random histories of cohorts and other clients at one lock', () => {
  it(`never let two clients hold at the same time (${RUNS} histories of a random seed)`, async () => {
    await fc.assert(anyCohortHistory, { numRuns: RUNS, seed: randomInt(2 ** 31) });
  }).timeout(0);
});
