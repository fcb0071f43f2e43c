// Plays generated histories of a few processes at one double barrier, in virtual time. Each message has its
// own delay, processes die at any moment, and some members give up. The session of a dead process ends some
// time later. The same seed generates the same histories.
import fc from 'fast-check';
import { anyDoubleBarrierHistory } from './double-barrier-history.ts';

const RUNS = 120;

describe('any history of a double barrier', () => {
  it(`begins and ends rounds together and leaves no waiter (${RUNS} histories)`, async () => {
    await fc.assert(anyDoubleBarrierHistory, { numRuns: RUNS, seed: 1 });
  });
});
