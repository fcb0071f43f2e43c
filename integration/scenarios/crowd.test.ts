import { safely } from '@queuelock/conformance';
import { createLockClient, type Ownership } from '@queuelock/core';
import { expect } from 'chai';
import { join } from './join.ts';
import { stores } from './stores.ts';
import type { Site } from './store.ts';

const WAITERS = 500;

for (const store of stores) {
  describe(`many waiters in one process, with ${store.name}`, function () {
    this.timeout(60_000);
    let site: Site;

    before(async () => {
      site = await store.share('a crowd');
    });

    it(`are granted in the order in which they joined, one at a time (${WAITERS} waiters of one client)`, async () => {
      const client = createLockClient(site.backend(), { ttlMs: site.longTtlMs });
      try {
        const holder = await client.acquire('crowd');
        const line = await Promise.all(Array.from({ length: WAITERS }, () => join(client, 'crowd')));
        const granted: Ownership[] = [];
        let holding = 1;
        const served = line.map(async ({ held }) => {
          const ownership = await held;
          holding += 1;
          safely(() => expect(holding).to.equal(1));
          expect(ownership.held).to.equal(true);
          granted.push(ownership);
          holding -= 1;
          await ownership.release();
        });
        holding -= 1;
        await holder.release();
        await Promise.all(served);
        const tokens = [holder, ...granted].map(({ token }) => token);
        safely(() => {
          expect(granted.map(({ order }) => order)).to.deep.equal(
            line.map(({ order }) => order).sort(ascending),
          );
          expect(tokens).to.deep.equal([...new Set(tokens)].sort(ascending));
        });
        expect(await site.entries('crowd')).to.be.empty;
      } finally {
        await client.close();
      }
    });
  });
}

function ascending(a: bigint, b: bigint): number {
  return a < b ? -1 : 1;
}
