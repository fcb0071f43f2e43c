import { randomInt } from 'node:crypto';
import fc from 'fast-check';
import { anyInterleaving } from './interleaving.ts';

describe('any interleaving of contenders, faults and cancellations', () => {
  it('never grants the lock twice at a time, keeps the order, gives every claim an outcome, and leaves nothing behind', async () => {
    await fc.assert(anyInterleaving, { numRuns: 500, seed: randomInt(2 ** 31) });
  }).timeout(0);
});
