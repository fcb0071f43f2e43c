// Shows that each fact of `facts.test.ts` can fail: for each there is a mutant of the core that makes it
// fail.
import { expect } from 'chai';
import fc from 'fast-check';
import { FACTS } from './facts.ts';
import { MUTANTS } from './mutants.ts';
import { alteredCore } from './model/altered-core.ts';
import { anyPlan } from './multi/plan.ts';
import { play } from './multi/play.ts';
import { onStage } from './stage.ts';

describe('the facts of the core detect that', () => {
  const all = Object.values(FACTS).flat();

  for (const { what, killedBy, alterations } of MUTANTS) {
    it(what, async () => {
      const fact = all.find(({ title }) => title === killedBy);
      if (!fact) return expect.fail(`there is no such fact: ${killedBy}`);
      const core = await alteredCore(alterations);
      const broken = await onStage(fact.check, core).then(
        () => false,
        () => true,
      );
      expect(broken, killedBy).to.equal(true);
    });
  }

  it('a copy of the core without alterations has no defect', async () => {
    const core = await alteredCore([]);
    for (const { check } of all) await onStage(check, core);
  });

  it('a mutant of the multi-lock enters its queues one after another (revealed by random plans of clients)', async () => {
    const core = await alteredCore([
      [
        'multi/together.ts',
        'await session.enqueueAll(specs, option);',
        '[];\n    for (const spec of specs) placements.push(await session.enqueue(spec));',
      ],
    ]);
    const wellBehaved = fc.asyncProperty(
      anyPlan,
      async (plan) => (await play(plan, 'together', core)).length === 0,
    );
    const { failed } = await fc.check(wellBehaved, { seed: 1, numRuns: 200, endOnFailure: true });
    expect(failed).to.equal(true);
  });
});
