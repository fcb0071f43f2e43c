// Plays generated histories of two cohorts and other clients at one lock, in virtual time. Messages are
// delayed, connections are cut for a while so that sessions are lost or suspect, and acquirers give up. The
// same seed generates the same histories.
import fc from 'fast-check';
import { anyCohortHistory } from './cohort-history.ts';

const RUNS = 60;

describe('random histories of cohorts and other clients at one lock', () => {
  it(`never let two clients hold at the same time (${RUNS} histories)`, async () => {
    await fc.assert(anyCohortHistory, { numRuns: RUNS, seed: 1 });
  });
});
