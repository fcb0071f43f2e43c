import type { Fact, Need } from './fact.ts';
import { facts } from './facts.ts';
import { longestWaitMs, type BackendHarness } from './harness.ts';
import { inLanes } from './lanes.ts';

/**
 * Maximum number of successive waits in the check of one fact. The mocha timeout of a test is this number
 * times the longest wait.
 */
const WAITS = 4;

/**
 * Defines the mocha suite that every backend must pass: `<harness.name> is a queuelock backend`. It has one
 * test for each of `conformanceTitles`. Tests that need a missing optional member of the harness are skipped;
 * the test context's `skipReason` names the member.
 */
export function describeBackend(harness: BackendHarness): void {
  const { atOnce = 1 } = harness;
  const lacking = ({ needs }: Fact): readonly Need[] => needs.filter((need) => !harness[need]);
  describe(`${harness.name} is a queuelock backend`, function () {
    this.timeout(WAITS * longestWaitMs(harness));
    const checks = new Map<Fact, Promise<void>>();
    if (atOnce > 1) {
      before(() => {
        const requested = facts.filter((fact) => lacking(fact).length === 0);
        const begun = inLanes(
          requested.map((fact) => () => fact.check(harness)),
          atOnce,
        );
        for (const [place, check] of begun.entries()) checks.set(requested[place] as Fact, check);
      });
      // Waits until all checks have ended. Checks also run for tests that mocha did not select.
      after(() => Promise.allSettled(checks.values()));
    }
    for (const fact of facts) {
      it(fact.title, async function () {
        const missing = lacking(fact);
        if (missing.length > 0) {
          this['skipReason'] = `the harness has no ${missing.join(', ')}`;
          this.skip();
        }
        await (checks.get(fact) ?? fact.check(harness));
      });
    }
  });
}
