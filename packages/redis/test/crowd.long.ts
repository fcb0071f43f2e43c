import { expect } from 'chai';
import { createLockClient } from '@queuelock/core';
import { redis } from '@queuelock/redis';
import { startRedis } from '@queuelock/harness/services';

const MANY = 20_000;

describe('a crowd in one process on Redis', () => {
  it(`of ${MANY} who ask at once for a lock each is served, and the session lives`, async () => {
    const server = await startRedis({ way: 'process' });
    const locks = createLockClient(redis({ url: `redis://${server.endpoint}` }));
    const held = await locks.acquire('before');
    const asked = Array.from({ length: MANY }, (_, nth) => locks.run(`lock ${nth}`, async () => nth));
    expect(new Set(await Promise.all(asked)).size).to.equal(MANY);
    expect(held.held).to.equal(true);
    await held.release();
    await locks.close();
    await server.stop();
  }).timeout(300_000);
});
