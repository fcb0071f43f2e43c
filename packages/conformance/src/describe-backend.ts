import { facts } from './facts.ts';
import { longestWaitMs, type BackendHarness } from './harness.ts';

/** How many waits in a row a fact may need in the worst case before it is called stuck. */
const WAITS = 4;

/**
 * Defines the mocha suite that every backend must pass: `<harness.name> is a queuelock backend`, with one test for each
 * of `conformanceTitles`. A fact that needs an optional member which the harness does not have is skipped, with the reason in
 * the context's `skipReason`.
 */
export function describeBackend(harness: BackendHarness): void {
  describe(`${harness.name} is a queuelock backend`, function () {
    this.timeout(WAITS * longestWaitMs(harness));
    for (const fact of facts) {
      const { title, needs } = fact;
      it(title, async function () {
        const missing = needs.filter((need) => !harness[need]);
        if (missing.length > 0) {
          this['skipReason'] = `the harness has no ${missing.join(', ')}`;
          this.skip();
        }
        await fact.check(harness);
      });
    }
  });
}
