import type { Hold, MultiOwnership, Ownership } from '@queuelock/core';
import { expect } from 'chai';
import {
  encodeFencedData,
  etcdCompare,
  fencedUpdate,
  fencedZnode,
  fencingHeaders,
  heldInEtcd,
  sqlFences,
  type FencingHold,
  type ZnodeClient,
} from '../src/index.ts';

const hold = { name: 'x', key: 'x/1', token: 1n };
const client: ZnodeClient = {
  get: async () => ({ data: encodeFencedData(''), version: 0 }),
  set: async () => true,
};

/** Every way in, each with what it makes of a hold. */
const WAYS_IN: Readonly<Record<string, (hold: FencingHold) => unknown>> = {
  etcdCompare,
  heldInEtcd,
  fencedZnode: (given) => fencedZnode(client, '/r', given),
  fencedUpdate: (given) => fencedUpdate('postgres', { table: 't', set: {}, where: { id: 1 }, hold: given }),
  claim: (given) => sqlFences('postgres').claim(given),
  fencingHeaders: (given) => fencingHeaders(given),
};

describe('what is fenced', () => {
  for (const [way, fence] of Object.entries(WAYS_IN)) {
    it(`is an exclusive hold, no reader's and no permit: ${way}`, () => {
      fence(hold);
      fence({ ...hold, shared: false, limit: 1 });
      expect(() => fence({ ...hold, shared: true } as never)).to.throw(
        /INVALID_ARGUMENT.*hold is exclusive: of several holders at a time, the one with the largest token would shut out the rest; got "a reader"/,
      );
      expect(() => fence({ ...hold, limit: 3 } as never)).to.throw(
        /INVALID_ARGUMENT.*hold is exclusive.*got "a permit of 3"/,
      );
      expect(() => fence(undefined as never)).to.throw(/INVALID_ARGUMENT.*hold must be an object/);
    });
  }

  it('is known to the compiler as far as types say it', () => {
    const typed = (given: {
      readonly ownership: Ownership;
      readonly prepared: Pick<Ownership, 'key' | 'name' | 'token'>;
      readonly reader: Pick<Ownership, 'key' | 'name' | 'token' | 'shared'>;
      readonly hold: Hold;
      readonly several: MultiOwnership;
    }): readonly FencingHold[] => [
      given.ownership,
      given.prepared,
      given.several.of('x'),
      // @ts-expect-error -- it may be a reader's
      given.reader,
      // @ts-expect-error -- it is a reader's
      { ...given.prepared, shared: true },
      // @ts-expect-error -- it is a permit
      { ...given.prepared, limit: 3 },
      // @ts-expect-error -- it has no token
      given.hold,
      // @ts-expect-error -- it has several
      given.several,
    ];
    expect(typed).to.be.a('function');
    // @ts-expect-error -- the key is what etcd compares
    const keyless = (): unknown => heldInEtcd({ name: 'x', token: 1n });
    expect(keyless).to.throw(/key is the key of the entry/);
  });

  it('is asked again at each write of a znode, for a lock that was downgraded meanwhile', async () => {
    const downgraded = { ...hold, shared: false };
    const node = fencedZnode(client, '/r', downgraded as FencingHold);
    expect(await node.write('before')).to.deep.equal({ outcome: 'accepted' });
    downgraded.shared = true;
    expect(await node.write('after').catch(String)).to.match(/INVALID_ARGUMENT.*got "a reader"/);
  });
});
