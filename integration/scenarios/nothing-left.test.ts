import { expect } from 'chai';
import { endScripts } from '@queuelock/harness/services/script-process';
import { CYCLE_NAMES } from './cycle-event.ts';
import { CyclesProcess, type Round } from './leftovers.ts';
import { stores } from './stores.ts';
import type { OwnSite } from './store.ts';
import { untilHolds } from './wait.ts';

/**
 * Number of rounds of locking, after each of which objects are counted. The first round fills caches and
 * pools.
 */
const ROUNDS = 2;
const CYCLES_IN_ROUND = 240;
// Largest increase in the number of objects of one kind from the first to the last round of locking. Aborted
// claims, one in 20, would exceed it if each kept an object.
const MAX_MORE = 6;
// Largest increase in the number of all objects from the first to the last round of locking. The first
// heartbeat may open one more connection, which has about 130 objects.
const MAX_MORE_OBJECTS = 180;

for (const store of stores) {
  describe(`${ROUNDS * CYCLES_IN_ROUND} locks in ${store.name}`, function () {
    this.timeout(120_000);
    let site: OwnSite;
    let cycles: CyclesProcess;
    let rounds: readonly Round[];

    before(async () => {
      site = await store.start('nothing left');
      cycles = new CyclesProcess(site, ROUNDS, CYCLES_IN_ROUND, 'instances');
      rounds = await cycles.rounds();
    });

    after(async () => {
      await endScripts();
      await site.server.stop();
    });

    it('leave no ownerships, subscriptions, signals, promises or other objects in memory', () => {
      const [early, late] = [rounds[0]!.instances!, rounds.at(-1)!.instances!];
      for (const kind of ['ownerships', 'subscriptions', 'signals', 'promises'] as const)
        expect(late[kind], kind).to.be.at.most(early[kind] + MAX_MORE);
      expect(late.objects).to.be.at.most(early.objects + MAX_MORE_OBJECTS);
    });

    it('leave no handle, timer or request', () => {
      const [early, late] = [rounds[0]!, rounds.at(-1)!];
      // Allows a small difference, since the number of timers and sockets in use varies.
      expect(late.resources).to.be.at.most(early.resources + 5);
    });

    it('leave one session on the server, and no entry and no watch', async () => {
      expect(await site.sessions()).to.have.lengthOf(1);
      for (const name of CYCLE_NAMES) expect(await site.entries(name), name).to.be.empty;
      await untilHolds('no watch is left', async () => expect(await site.watches()).to.equal(0));
    });

    it('leave no session after the client closes, and let the process end', async () => {
      for (const kind of await cycles.close()) expect(kind).to.not.match(/Timeout|TCP/);
      expect(await cycles.ended).to.deep.equal({ code: 0, signal: null, stderr: '' });
      expect(await site.sessions()).to.be.empty;
      expect(await site.watches()).to.equal(0);
    });
  });
}
