import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { endScripts, ScriptProcess } from './child-process.ts';
import { CYCLE_NAMES, type CycleEvent } from './cycle-event.ts';
import { stores, type OwnSite } from './stores.ts';
import { untilHolds } from './wait.ts';

const SCRIPT = fileURLToPath(new URL('cycles.ts', import.meta.url));
const ROUNDS = 10;
const CYCLES_IN_ROUND = 1_000;
/** The first rounds fill caches, pools and compiled code. */
const WARM_UP_ROUNDS = 3;
// Code goes on being compiled for some 20,000 locks, which looks like 20 to 60 bytes for each; an entry that stays has more.
const MOST_BYTES_PER_CYCLE = 100;
const EXIT_WITHIN_MS = 2_000;

type Round = Extract<CycleEvent, { ev: 'round' }>;

for (const store of stores) {
  describe(`what is left of ${ROUNDS * CYCLES_IN_ROUND} locks in ${store.name}`, function () {
    this.timeout(120_000);
    let site: OwnSite;
    let cycles: ScriptProcess<CycleEvent>;
    let rounds: Round[];

    before(async () => {
      site = await store.start('nothing left');
      const args = [site.url(), String(ROUNDS), String(CYCLES_IN_ROUND)];
      cycles = new ScriptProcess<CycleEvent>(SCRIPT, args, ['--expose-gc']);
      await cycles.untilEvent('ran');
      rounds = cycles.events.filter((event) => event.ev === 'round');
    });

    after(async () => {
      await endScripts();
      await site.server.stop();
    });

    it(`no memory: the heap grows by less than ${MOST_BYTES_PER_CYCLE} bytes a lock`, () => {
      const settled = rounds.slice(WARM_UP_ROUNDS).map(({ heapBytes }) => heapBytes);
      expect(slopeOf(settled) / CYCLES_IN_ROUND).to.be.lessThan(MOST_BYTES_PER_CYCLE);
    });

    it('no handle, timer or request', () => {
      const [early, late] = [rounds[WARM_UP_ROUNDS]!, rounds.at(-1)!];
      // A timer or a socket more or less is in use at any moment.
      expect(late.resources).to.be.at.most(early.resources + 5);
    });

    it('on the server one session, no entry and no watch', async () => {
      expect(await site.sessions()).to.have.lengthOf(1);
      for (const name of CYCLE_NAMES) expect(await site.entries(name), name).to.be.empty;
      await untilHolds('no watch is left', async () => expect(await site.watches()).to.equal(0));
    });

    it('nothing that keeps the process, nothing on its error stream, no session after close', async () => {
      cycles.tell({ close: true });
      await cycles.untilEvent('closed');
      const closedAt = performance.now();
      expect(await cycles.ended).to.deep.equal({ code: 0, signal: null, stderr: '' });
      expect(performance.now() - closedAt).to.be.lessThan(EXIT_WITHIN_MS);
      expect(await site.sessions()).to.be.empty;
      expect(await site.watches()).to.equal(0);
    });
  });
}

/** The median of the slopes between all pairs of equally spaced values (Theil and Sen): one odd value does not move it. */
function slopeOf(values: readonly number[]): number {
  const slopes = values.flatMap((value, at) =>
    values.slice(0, at).map((earlier, before) => (value - earlier) / (at - before)),
  );
  return slopes.sort((a, b) => a - b)[Math.floor(slopes.length / 2)]!;
}
