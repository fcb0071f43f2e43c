import { expect } from 'chai';
import { alteredProductSources } from './altered-product.ts';
import { MISTAKES } from './mistakes.ts';

describe('the mistakes', () => {
  it('fit the sources as they are', () => {
    for (const { alterations } of [...MISTAKES.etcd, ...MISTAKES.zookeeper])
      expect(alteredProductSources(alterations).size).to.be.greaterThan(0);
  });
});
