// Plays more histories than double-barrier.model.test.ts, with another seed in each run.
//
//   MODEL_RUNS=5000 node_modules/.bin/mocha packages/recipes/test/double-barrier.model.long.ts
import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { anyDoubleBarrierHistory } from './double-barrier-history.ts';

const RUNS = Number(process.env['MODEL_RUNS'] ?? 1_000);

describe('a double barrier in random histories', () => {
  it(`begins and ends each round for all members together (${RUNS} histories of a random seed)`, async () => {
    await fc.assert(anyDoubleBarrierHistory, { numRuns: RUNS, seed: randomInt(2 ** 31) });
  }).timeout(0);
});
