import { expect } from 'chai';
import { MOST_RUNS } from './hunt.ts';
import { hunted } from './hunted.ts';
import { MISTAKES } from './mistakes.ts';

for (const store of ['etcd', 'zookeeper'] as const)
  describe(`the table of what was hunted on ${store}`, () => {
    const table = Object.entries(hunted()[store]);

    it('has mistakes that there are', () => {
      const there = new Set(MISTAKES[store].map(({ what }) => what));
      expect(table.filter(([what]) => !there.has(what))).to.deep.equal([]);
    });

    it(`says of each that a rule that fits noticed it within ${MOST_RUNS} runs`, () => {
      for (const [what, { runs, rule }] of table) {
        const mistake = MISTAKES[store].find((one) => one.what === what);
        expect(mistake?.noticedBy, what).to.include(rule);
        expect(runs, what).to.be.within(1, MOST_RUNS);
      }
    });
  });
