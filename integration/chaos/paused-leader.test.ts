import { expect } from 'chai';
import { mayEndLiveSessions } from './paused-leader.ts';

describe('the check whether a paused leader may end live sessions', () => {
  for (const [name, version, may] of [
    ['etcd', '3.4.23', true],
    ['etcd', '3.4.31', false],
    ['etcd', '3.5.12', true],
    ['etcd', '3.5.30', false],
    ['etcd', '3.6.0', false],
    ['ZooKeeper', '3.4.14', false],
  ] as const)
    it(`is ${may} for ${name} ${version}`, () => {
      expect(mayEndLiveSessions({ name, version })).to.equal(may);
    });
});
