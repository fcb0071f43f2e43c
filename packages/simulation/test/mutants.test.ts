import { expect } from 'chai';
import { alteredProductSources } from './altered-product.ts';
import { MUTANTS } from './mutants.ts';

describe('the source patches of all mutants', () => {
  it('match the present sources', () => {
    for (const { alterations } of [...MUTANTS.etcd, ...MUTANTS.zookeeper])
      expect(alteredProductSources(alterations).size).to.be.greaterThan(0);
  });
});
