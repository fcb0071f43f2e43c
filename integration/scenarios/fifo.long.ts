import { expect } from 'chai';
import { orSkip } from '@queuelock/harness/services/skip';
import { endScripts } from '@queuelock/harness/services/script-process';
import { contend, expectServed, expectServedTogether } from './contest.ts';
import { foreigners, type Foreigners } from './foreign.ts';
import { stores } from './stores.ts';
import type { Site } from './store.ts';

const PROCESSES = 8;
const ROUNDS = 200;
const OURS = { contenders: 4, rounds: 50, holdMs: 10 };
const THEIRS = { contenders: 4, rounds: 15 };

for (const store of stores) {
  describe(`a queue in ${store.name} with many processes`, function () {
    this.timeout(120_000);
    let site: Site;

    before(async () => {
      site = await store.share('first in, first out');
    });

    afterEach(endScripts);

    it(`grants ${ROUNDS} rounds of ${PROCESSES} processes in the server's order, one at a time`, async () => {
      const history = await contend(site, 'fifo', { contenders: PROCESSES, rounds: ROUNDS });
      expectServed(history, PROCESSES * ROUNDS);
    });

    describe(`shared with another kind of client, ${foreigners[store.name]!.who}`, () => {
      let foreign: Foreigners | undefined;

      before(async function () {
        foreign = await orSkip(this, foreigners[store.name]!.summon());
      });

      after(() => foreign?.dismiss());

      it('grants clients of queuelock and of the other kind in one order, one at a time', async () => {
        const changes = await expectServedTogether(site, foreign!, { ours: OURS, theirs: THEIRS });
        // The lock must have passed many times between queuelock's processes and the clients of another
        // library. Otherwise they did not contend with each other.
        expect(changes).to.be.at.least(THEIRS.rounds);
      });
    });
  });
}
