import { expect } from 'chai';
import { MUTANTS } from './mutants.ts';
import { alteredCoreSources } from './model/altered-core.ts';
import { DEFECTS } from './model/defects.ts';

describe('the mutants of the core', () => {
  it('can be applied to the present sources', () => {
    for (const { what, alterations } of [...MUTANTS, ...DEFECTS])
      if (alterations) expect(alteredCoreSources(alterations).size, what).to.be.greaterThan(0);
  });
});
