import { expect } from 'chai';
import { stores } from '../scenarios/stores.ts';
import type { Site } from '../scenarios/store.ts';
import { runLapses, type Lapse } from './lapse.ts';
import { rows } from './rows.ts';
import { orSkip } from '@queuelock/harness/services/skip';
import { abandonTrials, expectRight } from './trial.ts';

const LAPSES: readonly Lapse[] = ['crash', 'freeze'];

for (const store of stores) {
  describe(`participants in several languages that are killed or frozen, in ${store.name}`, function () {
    this.timeout(180_000);
    let site: Site;

    before(async () => {
      site = await store.share('participants in several languages stop');
    });

    afterEach(abandonTrials);

    for (const line of rows[store.name]!.lines.filter(({ short }) => short)) {
      it(`delay other participants by at most their own TTL and the server's expiry delay: ${line.title}`, async function () {
        const runs = LAPSES.map((lapse) => runLapses(site, line, lapse));
        const [crash, freeze] = await orSkip(this, Promise.all(runs));
        const holders = line.pairs.map(({ holder }) => holder);
        for (const ran of [crash!, freeze!]) expectRight(ran);
        for (const { gapsMs, holds } of [crash!, freeze!]) {
          const granted = holds.map(({ id }) => id).slice(0, holders.length);
          expect(granted).to.deep.equal(holders.map(({ title }) => `holder ${title}`));
          for (const [title, gapMs] of gapsMs) {
            expect(gapMs, title).to.be.at.most(site.ttlMs + site.expiryMs);
          }
        }
        const receivers = holders.filter(({ deaf }) => !deaf).map(({ title }) => title);
        expect([...freeze!.wakesMs.keys()]).to.deep.equal(receivers);
      });
    }
  });
}
