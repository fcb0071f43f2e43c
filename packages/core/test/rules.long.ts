// The rules of model/judge.ts are no empty words: each defect is noticed in some history from the seed that is kept for it.
import { expect } from 'chai';
import { DEFECTS } from './model/defects.ts';
import { hunt } from './model/hunt.ts';
import { RULES } from './model/judge.ts';
import { SEEDS } from './model/seeds.ts';

describe('the rules notice that', () => {
  const noticing = new Set<unknown>();

  for (const [what, seed] of Object.entries(SEEDS)) {
    it(what, async function () {
      const defect = DEFECTS.find((one) => one.what === what)!;
      const { broken, histories } = await hunt(defect, seed);
      expect(defect.noticedBy).to.include(broken);
      noticing.add(broken);
      this.test!.title += `: ${String(broken)} (history ${histories})`;
    });
  }

  it('none of them is idle: each notices a defect', () => {
    expect([...noticing].sort()).to.deep.equal(Object.keys(RULES).sort());
  });
});
