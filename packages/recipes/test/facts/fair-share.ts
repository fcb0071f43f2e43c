import { expect } from 'chai';
import { fairShare } from '../../src/index.ts';
import type { RecipeFact, Site } from '../frame.ts';

/**
 * Returns a name for the shared queue that does not begin with the test's queue, `site.queue`. On ZooKeeper,
 * the queues of keys are nodes below the shared queue. The check for leftovers after the test counts nodes
 * below `site.queue`.
 */
const nameOn = ({ queue }: Site): string => `shares-${queue}`;

async function nothingLeft(site: Site, keys: readonly string[]): Promise<void> {
  const name = nameOn(site);
  const observer = site.client();
  for (const queue of [name, ...keys.map((key) => `${name}/key/${key}`)]) {
    const seen = site.follow(observer.watch(queue));
    await site.until(
      `nothing is left of ${queue}`,
      () => seen.last?.status === 'live' && seen.last.entries.length === 0,
    );
    seen.stop();
  }
}

export const fairShareFacts: readonly RecipeFact[] = [
  {
    title: 'callers of one key hold at most limitPerKey shares at a time, and the keys take turns',
    async check(site) {
      const options = { limit: 2, limitPerKey: 1 };
      const name = nameOn(site);
      const shares = [site.client(), site.client()].map((one) => fairShare(one, name, options));
      const begun: string[] = [];
      let [holding, most] = [0, 0];
      const keys = ['a', 'a', 'a', 'a', 'b', 'c'];
      await Promise.all(
        keys.map((key, n) =>
          shares[n % 2]!.run(key, async () => {
            begun.push(key);
            most = Math.max(most, (holding += 1));
            await new Promise((resolve) => setImmediate(resolve));
            holding -= 1;
          }),
        ),
      );
      expect(begun.toSorted()).to.deep.equal(keys);
      expect(most).to.be.at.most(2);
      expect(begun.lastIndexOf('a'), 'others had their turn before the fourth of this key').to.equal(5);
      await nothingLeft(site, ['a', 'b', 'c']);
    },
  },
  {
    title: 'a held share delays only other callers of its own key',
    async check(site) {
      const { client } = site;
      const name = nameOn(site);
      const [one, two] = [client(), client()].map((each) =>
        fairShare(each, name, { limit: 2, limitPerKey: 1 }),
      );
      const first = await one!.acquire('a');
      expect(await two!.tryAcquire('a')).to.equal(undefined);
      const second = await two!.acquire('b');
      expect(await one!.tryAcquire('c'), 'all are taken').to.equal(undefined);
      const waits = one!.acquire('c');
      await first.release();
      const third = await waits;
      expect([second.held, third.held]).to.deep.equal([true, true]);
      await Promise.all([second.release(), third.release()]);
      await nothingLeft(site, ['a', 'b', 'c']);
    },
  },
];
