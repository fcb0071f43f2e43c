import { expect } from 'chai';
import type { ZkDriver } from '../src/driver/driver.ts';
import { findNode } from '../src/entry/find-node.ts';
import { schemeOf } from '../src/queue/naming.ts';
import { MISSING_PATH } from '../src/driver/quorum.ts';

describe('a ZooKeeper node whose create got no reply', () => {
  it('is searched for only after a write that a quorum has confirmed', async () => {
    const requested: string[] = [];
    const zk: Pick<ZkDriver, 'delete' | 'children'> = {
      delete: (path) => {
        requested.push(`delete ${path}`);
        return Promise.resolve(false);
      },
      children: (path) => {
        requested.push(`children of ${path}`);
        return Promise.resolve([]);
      },
    };
    const location = { root: '', directory: '/jobs', scheme: schemeOf('curator') };
    const found = await findNode(zk as ZkDriver, location, { id: 'a'.repeat(32), known: undefined });
    expect(found).to.equal(undefined);
    expect(requested).to.deep.equal([`delete ${MISSING_PATH}`, 'children of /jobs']);
  });
});
