import { expect } from 'chai';
import { safely } from '@queuelock/harness/safety';
import { until } from '@queuelock/harness/services/until';
import { layGround, stores } from './served.ts';
import { seen, Tab } from './stage.ts';

for (const [name, start] of stores) {
  describe(`the bridge over ${name}`, function () {
    this.timeout(60_000);
    const ground = layGround(start);
    const { page } = ground;

    it(`needs as many watches for 100 viewers of a queue as for one viewer (${name})`, async () => {
      const first = page();
      const observeOptions = first.queue('viewed').subscribe();
      await seen(first.queue('viewed'), ({ snapshot }) => snapshot?.status === 'live');
      // The bridge may open one of its watches a little after the page has received its first snapshot. So the
      // test repeats this comparison of the numbers of watches until they are equal.
      const areSet = async (): Promise<void> => {
        expect(await ground.store.watches()).to.equal(ground.store.watchesOfAQueue);
      };
      await until(areSet, { what: 'the watches of one viewer', withinMs: 30_000 });
      const reads = Array.from({ length: 99 }, () => page()).map((made) => made.queue('viewed'));
      const all = reads.map((read$) => read$.subscribe());
      await Promise.all(reads.map((read$) => seen(read$, ({ snapshot }) => snapshot?.status === 'live')));
      await areSet();
      for (const read of [observeOptions, ...all]) read.unsubscribe();
    });

    it(`passes a lock from page to page (${name})`, async () => {
      const a = new Tab(page().join('doc', { owner: 'a' }));
      const { lock } = await a.until('held');
      const b = new Tab(page().join('doc', { owner: 'b' }));
      await b.until('queued', ({ position }) => position === 1);
      await lock.release();
      const { lock: second } = await b.until('held');
      safely(() => expect(BigInt(second.token) > BigInt(lock.token)).to.equal(true));
      await second.release();
    });
  });
}
