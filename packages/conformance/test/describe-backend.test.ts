import { expect } from 'chai';
import type { Suite } from 'mocha';
import { conformanceTitles, describeBackend, facts, type BackendHarness } from '@queuelock/conformance';
import { memory } from '@queuelock/memory';

describe('describeBackend', function () {
  const harness: BackendHarness = {
    name: 'a store',
    connect: async () => memory(),
    ttlMs: 100,
    expiryGranularityMs: 100,
  };
  describeBackend(harness);
  // Removes the suite from mocha again, because this test inspects it and must not run it.
  const [suite] = this.suites.splice(0) as [Suite];

  it('defines one test for each fact, in order', () => {
    expect(suite.title).to.equal('a store is a queuelock backend');
    expect(suite.tests.map(({ title }) => title)).to.deep.equal(conformanceTitles);
    expect(new Set(conformanceTitles).size).to.equal(conformanceTitles.length);
  });

  it('gives the tests of slow stores longer timeouts', () => {
    expect(suite.timeout()).to.be.greaterThan(harness.ttlMs + harness.expiryGranularityMs);
  });

  it('skips a fact when the harness lacks a member that the fact needs, and names that member', async () => {
    const needy = facts.filter(({ needs }) => needs.length > 0);
    expect(needy.length).to.be.at.least(3);
    for (const { title, needs } of needy) {
      const context = {
        skipReason: '',
        skip: () => {
          throw new Error('skipped');
        },
      };
      const test = suite.tests.find((candidate) => candidate.title === title);
      const run = test?.fn as unknown as (this: typeof context) => Promise<void>;
      const outcome = await run.call(context).catch((error: unknown) => (error as Error).message);
      expect(outcome).to.equal('skipped');
      expect(context.skipReason).to.equal(`the harness has no ${needs.join(', ')}`);
    }
  });
});
