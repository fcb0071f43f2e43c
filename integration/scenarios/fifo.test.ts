import { judge } from '@queuelock/cli/src/demo/judge.ts';
import { expect } from 'chai';
import { orSkip } from '@queuelock/harness/services/skip';
import { endScripts } from '@queuelock/harness/services/script-process';
import { contend, expectServed, expectServedTogether, spoil } from './contest.ts';
import { foreigners, type Foreigners } from './foreign.ts';
import { stores } from './stores.ts';
import type { Site } from './store.ts';

const PROCESSES = 5;
const ROUNDS = 25;
const OURS = { contenders: 3, rounds: 15, holdMs: 30 };
const THEIRS = { contenders: 3, rounds: 5 };

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
      for (const { what, spoilt } of spoil(history)) {
        expect(judge(spoilt).violations, `${what} goes unnoticed`).to.not.be.empty;
      }
    });

    describe(`shared with another kind of client, ${foreigners[store.name]!.who}`, () => {
      let foreign: Foreigners | undefined;

      before(async function () {
        foreign = await orSkip(this, foreigners[store.name]!.summon());
      });

      after(() => foreign?.dismiss());

      it('grants clients of queuelock and of the other kind in one order, one at a time', async () => {
        const changes = await expectServedTogether(site, foreign!, { ours: OURS, theirs: THEIRS });
        // Expects that the lock passes between queuelock and the other clients several times: each client
        // joins again behind waiting clients of both kinds.
        expect(changes).to.be.at.least(3);
      });
    });
  });
}
