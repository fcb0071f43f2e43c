// Plays any history of a few processes at one double barrier, in virtual time: every message has its own delay, processes die at any moment, their
// sessions end some time later, and some members give up. The same seed generates the same histories.
import fc from 'fast-check';
import { anyDoubleBarrierHistory } from './double-barrier-history.ts';

const RUNS = 120;

describe('any history of a double barrier', () => {
  it(`keeps the rules and leaves no waiter (${RUNS} histories)`, async () => {
    await fc.assert(anyDoubleBarrierHistory, { numRuns: RUNS, seed: 1 });
  });
});
