import { expect } from 'chai';
import { etcdCompare, heldInEtcd } from '../src/index.ts';

const hold = { key: 'jobs/7587a1-x', token: 2n ** 60n + 1n };

describe('the etcd comparison of a hold', () => {
  it('contains the key of the entry and its create revision without rounding', () => {
    expect(etcdCompare(hold)).to.deep.equal({
      target: 1,
      result: 0,
      key: Buffer.from('jobs/7587a1-x'),
      create_revision: '1152921504606846977',
    });
    expect(heldInEtcd(hold)).to.deep.equal(['jobs/7587a1-x', 'Create', '==', '1152921504606846977']);
  });

  it('is refused for revision 0, which would match a key that does not exist', () => {
    for (const fence of [etcdCompare, heldInEtcd]) {
      expect(() => fence({ ...hold, token: 0n })).to.throw(/token is a bigint from 1/);
      expect(() => fence({ ...hold, key: '' })).to.throw(/key is the key of the entry/);
    }
  });
});
