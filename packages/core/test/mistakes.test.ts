import { expect } from 'chai';
import { MISTAKES } from './mistakes.ts';
import { alteredCoreSources } from './model/altered-core.ts';
import { DEFECTS } from './model/defects.ts';

describe('the mistakes in the core', () => {
  it('fit the sources as they are', () => {
    for (const { what, alterations } of [...MISTAKES, ...DEFECTS])
      if (alterations) expect(alteredCoreSources(alterations).size, what).to.be.greaterThan(0);
  });
});
