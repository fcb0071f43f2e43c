import { expect } from 'chai';
import { alteredProductSources } from './altered-product.ts';
import { MUTANTS } from './mutants.ts';

describe('mutants', () => {
  it('fit the present sources', () => {
    for (const { alterations } of [...MUTANTS.etcd, ...MUTANTS.zookeeper])
      expect(alteredProductSources(alterations).size).to.be.greaterThan(0);
  });
});
