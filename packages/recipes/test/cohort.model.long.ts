// As cohort.model.test.ts, with more histories, which are others every time.
//
//   MODEL_RUNS=5000 node_modules/.bin/mocha packages/recipes/test/cohort.model.long.ts
import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { anyCohortHistory } from './cohort-history.ts';

const RUNS = Number(process.env['MODEL_RUNS'] ?? 500);

describe('any history of cohorts and rivals', () => {
  it(`keeps the rules and leaves nothing (${RUNS} other histories)`, async () => {
    await fc.assert(anyCohortHistory, { numRuns: RUNS, seed: randomInt(2 ** 31) });
  }).timeout(0);
});
