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

/** The functions of this package that take a hold, by name. */
const WAYS_IN: Readonly<Record<string, (hold: FencingHold) => unknown>> = {
  etcdCompare,
  heldInEtcd,
  fencedZnode: (input) => fencedZnode(client, '/r', input),
  fencedUpdate: (input) => fencedUpdate('postgres', { table: 't', set: {}, where: { id: 1 }, hold: input }),
  claim: (input) => sqlFences('postgres').claim(input),
  fencingHeaders: (input) => fencingHeaders(input),
};

describe('the hold of a fenced write', () => {
  for (const [way, fence] of Object.entries(WAYS_IN)) {
    it(`is refused by ${way} unless it is exclusive`, () => {
      fence(hold);
      fence({ ...hold, shared: false, limit: 1 });
      expect(() => fence({ ...hold, shared: true } as never)).to.throw(
        /INVALID_ARGUMENT.*hold is exclusive: of several holders at a time, the one with the largest token would block the others; got "a reader"/,
      );
      expect(() => fence({ ...hold, limit: 3 } as never)).to.throw(
        /INVALID_ARGUMENT.*hold is exclusive.*got "a permit of 3"/,
      );
      expect(() => fence(undefined as never)).to.throw(/INVALID_ARGUMENT.*hold must be an object/);
    });
  }

  it('is rejected by the compiler when its type is incomplete, or may be that of a shared hold', () => {
    const typed = (input: {
      readonly ownership: Ownership;
      readonly prepared: Pick<Ownership, 'key' | 'name' | 'token'>;
      readonly reader: Pick<Ownership, 'key' | 'name' | 'token' | 'shared'>;
      readonly hold: Hold;
      readonly several: MultiOwnership;
    }): readonly FencingHold[] => [
      input.ownership,
      input.prepared,
      input.several.of('x'),
      // @ts-expect-error -- the hold may be that of a reader
      input.reader,
      // @ts-expect-error -- the hold is that of a reader
      { ...input.prepared, shared: true },
      // @ts-expect-error -- the hold is a permit
      { ...input.prepared, limit: 3 },
      // @ts-expect-error -- the hold has no token
      input.hold,
      // @ts-expect-error -- the hold covers several names
      input.several,
    ];
    expect(typed).to.be.a('function');
    // @ts-expect-error -- etcd compares the key, which is missing
    const keyless = (): unknown => heldInEtcd({ name: 'x', token: 1n });
    expect(keyless).to.throw(/key is the key of the entry/);
  });

  it('is checked for exclusiveness again at each write of a znode', async () => {
    const downgraded = { ...hold, shared: false };
    const node = fencedZnode(client, '/r', downgraded as FencingHold);
    expect(await node.write('before')).to.deep.equal({ outcome: 'accepted' });
    downgraded.shared = true;
    expect(await node.write('after').catch(String)).to.match(/INVALID_ARGUMENT.*got "a reader"/);
  });
});
