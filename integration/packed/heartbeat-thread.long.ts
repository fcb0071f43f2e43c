import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { sharedEtcd } from '@queuelock/harness/services';
import { Installation, outputOf } from './installation.ts';

const TTL_MS = 5_000;

/** A program whose event loop is blocked for longer than the TTL while it holds a lock. */
const PROGRAM = `
  import { createLockClient } from '@queuelock/core';
  import { etcd } from '@queuelock/etcd';
  async function main() {
    const options = { ttlMs: ${TTL_MS}, maxBlockedMs: 60_000 };
    const locks = createLockClient(etcd({ hosts: process.env.ETCD }), options);
    const errors = [];
    locks.errors$.subscribe(({ message }) => errors.push(message));
    const hold = await locks.acquire(process.env.NAME);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const end = performance.now() + ${2 * TTL_MS};
    while (performance.now() < end);
    const { held } = hold;
    await hold.release().catch(() => undefined);
    await locks.close();
    return { held, errors };
  }
  main().then((outcome) => console.log(JSON.stringify(outcome)));
`;

describe('the heartbeat thread of packed code', function () {
  this.timeout(120_000);
  let installation: Installation;
  let endpoint: string;

  before(async () => {
    endpoint = (await sharedEtcd('heartbeat-thread')).endpoint;
    installation = await Installation.of(['core', 'etcd']);
  });
  after(() => installation.remove());

  it('keeps a lock while the event loop is blocked for twice the TTL', async () => {
    const file = await installation.write('program.mjs', PROGRAM);
    const outcome = await outputOf(file, { ETCD: endpoint, NAME: 'installed' });
    expect(outcome).to.deep.equal({ held: true, errors: [] });
  });

  for (const format of ['esm', 'cjs'] as const)
    it(`is missing in a bundle of one file (${format}), so the client emits an error and loses the lock when blocked`, async () => {
      const bundle = await installation.bundle(PROGRAM, { format });
      try {
        const { held, errors } = await outputOf(bundle, { ETCD: endpoint, NAME: `bundled-${format}` });
        expect(held).to.equal(false);
        expect(String(errors)).to.match(
          /the heartbeat thread \(option maxBlockedMs\) failed: .*main thread continue/,
        );
      } finally {
        await rm(dirname(bundle), { recursive: true });
      }
    });
});
