import { expect } from 'chai';
import { stores } from '../scenarios/stores.ts';
import type { Site } from '../scenarios/store.ts';
import { runElection } from './reign.ts';
import { rows } from './rows.ts';
import { orSkip } from '@queuelock/harness/services/skip';
import { abandonTrials, expectRight } from './trial.ts';

const TERMS_OF_A_PAIR = 5;

for (const store of stores) {
  describe(`one election in ${store.name} for several languages`, function () {
    this.timeout(120_000);
    let site: Site;

    before(async () => {
      site = await store.share('one election for several languages');
    });

    afterEach(abandonTrials);

    for (const election of rows[store.name]!.elections) {
      it(`reports every leader, in order, to the observers in all languages: ${election.title}`, async function () {
        const ran = await orSkip(this, runElection(site, election));
        expectRight(ran);
        const { holds, leaders, seen } = ran;
        expect(holds).to.have.lengthOf(TERMS_OF_A_PAIR * election.candidates.length);
        for (const [observer, named] of seen) expect(named, observer).to.deep.equal(leaders);
      });
    }
  });
}
