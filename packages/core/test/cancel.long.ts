import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { anyInterleaving } from './interleaving.ts';

describe('any interleaving of contenders, faults and cancellations', () => {
  it('keeps exclusion and order, ends every claim, and leaves nothing in the store', async () => {
    await fc.assert(anyInterleaving, { numRuns: 500, seed: randomInt(2 ** 31) });
  }).timeout(0);
});
