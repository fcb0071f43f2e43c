import { expect } from 'chai';
import { startProxy } from '@queuelock/harness/faults';
import { medianOf } from '@queuelock/harness/median';
import { stores } from './stores.ts';
import { expectUnreachable } from './unreachable.ts';

const TIMES = 5;

for (const store of stores) {
  describe(`queuelock with unusual or invalid input, over ${store.name}`, function () {
    this.timeout(60_000);

    it('reports an unreachable server by its address, within connectTimeoutMs', async () => {
      const site = await store.share('bad input');
      await using proxy = await startProxy(site.endpoint);
      for (const isSilent of [false, true]) {
        if (isSilent) await proxy.accept();
        else proxy.refuse();
        proxy.toClient.blackhole();
        const tookMs: number[] = [];
        for (let time = 0; time < TIMES; time += 1)
          tookMs.push(await expectUnreachable(site, proxy.endpoint));
        expect(medianOf(tookMs), isSilent ? 'silent' : 'refused').to.be.at.most(1_500);
      }
    });
  });
}
