import { runTarget } from '@queuelock/harness/fuzz/run-target';
import { expect } from 'chai';
import { TARGETS, moduleOf } from './targets.ts';

const SECONDS = 15;
const SEED = Number(process.env['QUEUELOCK_SEED'] ?? 1);

describe('code that parses mutated input from the network', function () {
  this.timeout(300_000);

  for (const target of TARGETS)
    it(`throws only expected errors, never hangs, and uses bounded memory (${target}, seed ${SEED})`, async () => {
      const { executions, growthBytes, finding } = await runTarget(moduleOf(target), {
        seconds: SECONDS,
        seed: SEED,
      });
      expect(finding, `repeat it with: pnpm fuzz ${target} --seconds ${SECONDS} --seed ${SEED}`).to.equal(
        undefined,
      );
      expect(executions).to.be.at.least(100);
      expect(growthBytes).to.be.below(64 * 2 ** 20);
    });
});
