import { expect } from 'chai';
import { createLockClient } from '@queuelock/core';
import { redis } from '@queuelock/redis';
import { startRedis } from '@queuelock/harness/services';

const MANY = 20_000;

describe('many claims of one process on Redis', () => {
  it(`are all granted when ${MANY} are made at the same time, and the session stays alive`, async () => {
    const server = await startRedis({ way: 'process' });
    const locks = createLockClient(redis({ url: `redis://${server.endpoint}` }));
    const held = await locks.acquire('before');
    const requested = Array.from({ length: MANY }, (_, nth) => locks.run(`lock ${nth}`, async () => nth));
    expect(new Set(await Promise.all(requested)).size).to.equal(MANY);
    expect(held.held).to.equal(true);
    await held.release();
    await locks.close();
    await server.stop();
  }).timeout(300_000);
});
