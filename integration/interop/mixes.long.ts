import { expect } from 'chai';
import { stores } from '../scenarios/stores.ts';
import type { Site } from '../scenarios/store.ts';
import { zooKeeperStore } from '../scenarios/zookeeper-store.ts';
import { curatorMutex, kazooLock } from './kinds.ts';
import { runMix } from './mix.ts';
import { rows } from './rows.ts';
import type { Mix } from './row.ts';
import { orSkip } from '@queuelock/harness/services/skip';
import { abandonTrials, expectRight } from './trial.ts';

const SHORT = { grants: 150, holdMs: 2 };

for (const store of stores) {
  describe(`one queue in ${store.name} for several languages`, function () {
    this.timeout(120_000);
    let site: Site;

    before(async () => {
      site = await store.share('one queue for several languages');
    });

    afterEach(abandonTrials);

    for (const mix of rows[store.name]!.mixes.filter(({ short }) => short)) {
      it(`grants all participants in the server's order, one at a time: ${mix.title}`, async function () {
        const ran = await orSkip(this, runMix(site, mix, SHORT));
        expectRight(ran);
        expect(ran.holds.length).to.be.at.least(SHORT.grants);
      });
    }
  });
}

describe('one queue in ZooKeeper for Curator and kazoo (control)', function () {
  this.timeout(60_000);

  afterEach(abandonTrials);

  it('lets Curator and kazoo hold at the same time when each library keeps its own node names', async function () {
    const site = await zooKeeperStore.share('Curator and kazoo as they are');
    const stock: Mix = {
      title: 'Curator and kazoo without changes',
      parties: [curatorMutex, kazooLock].map((kind) => ({ kind, count: 2 })),
      control: true,
    };
    const { findings } = await orSkip(this, runMix(site, stock, { grants: 100, holdMs: 5 }));
    expect(findings.filter((finding) => finding.includes(' held'))).to.not.be.empty;
  });
});
