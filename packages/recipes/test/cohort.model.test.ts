// Any history of two cohorts and some rivals at one lock, in virtual time: messages take their time, lines are cut for a while (so
// that sessions are lost, or only in doubt), acquirers give up. The same seed makes the same histories.
import fc from 'fast-check';
import { anyCohortHistory } from './cohort-history.ts';

const RUNS = 60;

describe('any history of cohorts and other clients at one lock', () => {
  it(`keeps the rules and leaves nothing behind (${RUNS} histories)`, async () => {
    await fc.assert(anyCohortHistory, { numRuns: RUNS, seed: 1 });
  });
});
