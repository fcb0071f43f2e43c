import { expect } from 'chai';
import { MAX_RUNS } from './kill-mutant.ts';
import { killedMutants } from './killed-mutants.ts';
import { MUTANTS } from './mutants.ts';

for (const store of ['etcd', 'zookeeper'] as const)
  describe(`the table of mutants killed on ${store}`, () => {
    const table = Object.entries(killedMutants()[store]);

    it('names only existing mutants', () => {
      const there = new Set(MUTANTS[store].map(({ what }) => what));
      expect(table.filter(([what]) => !there.has(what))).to.deep.equal([]);
    });

    it(`names for each mutant a rule that detects it, within at most ${MAX_RUNS} runs`, () => {
      for (const [what, { runs, rule }] of table) {
        const mutant = MUTANTS[store].find((one) => one.what === what);
        expect(mutant?.killedBy, what).to.include(rule);
        expect(runs, what).to.be.within(1, MAX_RUNS);
      }
    });
  });
