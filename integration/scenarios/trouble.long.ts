import { expect } from 'chai';
import { medianOf } from '@queuelock/harness/median';
import { compact } from './compaction.ts';
import { layGround } from './ground.ts';
import { expectAllServedAfter } from './outage.ts';
import { loseToSilence } from './silence.ts';
import { stores } from './stores.ts';

const CONTENDERS = 12;
const ROUNDS = 40;
const SILENCES = 3;

for (const store of stores) {
  describe(`faults with ${store.name}`, function () {
    this.timeout(120_000);
    const ground = layGround(store, 'trouble');

    it('cost no client its lock or position when a server restarts', async () => {
      const { site } = ground;
      await expectAllServedAfter(() => site.server.restart(), { site, name: 'restart' });
    });

    it('end a hold when the connection of the holder is silent for longer than the TTL', async () => {
      const { site } = ground;
      const waits: number[] = [];
      for (let silence = 1; silence <= SILENCES; silence += 1)
        waits.push(await loseToSilence(ground, `silent-${silence}`));
      expect(medianOf(waits)).to.be.at.most(site.ttlMs + site.expiryMs);
    });

    if (store.name === 'etcd') {
      it("block no client when etcd's history is compacted every 50 ms", async () => {
        const { site } = ground;
        const compacting = setInterval(() => void compact(site), 50);
        try {
          const rounds = Array.from({ length: CONTENDERS }, async (_, i) => {
            const client = ground.connect();
            const tokens = [];
            for (let round = 0; round < ROUNDS; round += 1) {
              tokens.push(await client.run(`compacted-${i % 3}`, ({ token }) => token));
            }
            return tokens;
          });
          const tokens = await Promise.all(rounds);
          expect(tokens.flat()).to.have.lengthOf(CONTENDERS * ROUNDS);
        } finally {
          clearInterval(compacting);
        }
      });
    }
  });
}
