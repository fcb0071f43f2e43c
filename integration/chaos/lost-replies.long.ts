import { expect } from 'chai';
import { within } from './deadline.ts';
import { stopDetoursAfter } from './detour.ts';
import { leasesOn, untilEntries, untilLeases } from './entries.ts';
import { abandonTrials, startExperiment, type Experiment, type WorkerOptions } from './experiment.ts';
import { STORES } from './profiles.ts';
import { ReplyThief } from './reply-thief.ts';
import { TEST_TIMEOUT_MS, RUNS, expectRight, oneByOne } from './runs.ts';
import { dismiss, granted, holdNow, isHeld, leave, standIn } from './standing.ts';
import { wireOf } from './wire.ts';
import type { WorkerProcess } from './worker-process.ts';

const END_WITHIN_MS = 5_000;
// TTL in milliseconds of a worker whose replies are lost. It must not expire while another worker joins the
// queue and the test reads the entries.
const SILENT_TTL_MS = 10_000;

for (const store of STORES) {
  describe(`lost replies of ${store}`, function () {
    this.timeout(TEST_TIMEOUT_MS + RUNS * 10_000);
    const wire = wireOf(store);
    let experiment: Experiment;
    let thief: ReplyThief;

    beforeEach(async () => {
      experiment = await startExperiment({ store });
      thief = await ReplyThief.start(experiment);
    });
    afterEach(() => stopDetoursAfter(abandonTrials));

    /** Returns a worker whose replies can be lost, and a worker with a direct connection. */
    async function victimAndOther(
      own: WorkerOptions = {},
    ): Promise<readonly [victim: WorkerProcess, other: WorkerProcess]> {
      return Promise.all([thief.addVictim(own), experiment.addWorker()]);
    }

    it('to the opening of a session still lead to one entry, in a live session', async () => {
      await oneByOne(async (run) => {
        const queue = experiment.queue(`opened-${run}`);
        const victim = await thief.addVictim();
        const before = store === 'etcd' ? (await leasesOn(experiment.cluster)).length : 0;
        const heal = await thief.steal(victim, wire.opens, {
          by: () => victim.tell({ do: 'hold', queue }),
          // On etcd, waits for the new lease, because the first data that the proxy loses may not belong to
          // the reply. ZooKeeper sends no data before it has opened the session, so there the lost data is
          // the reply.
          ...(store === 'etcd' ? { done: () => untilLeases(experiment, before + 1) } : {}),
        });
        await heal();
        const { key } = await victim.untilEvent('queued', { queue });
        await victim.untilEvent('acquired', { queue });
        expect(await untilEntries(experiment, queue, 1)).to.deep.equal([key]);
        await victim.untilEvent('beat', { from: victim.events.length });
        await dismiss(victim);
      });
      await expectRight(experiment);
    });

    it('to an enqueue leave exactly one entry, at its original position', async () => {
      const [victim, other] = await victimAndOther({ ttlMs: SILENT_TTL_MS });
      await holdNow(victim, experiment.queue('own'));
      await oneByOne(async (run) => {
        const queue = experiment.queue(`entered-${run}`);
        const first = await holdNow(other, queue);
        const heal = await thief.steal(victim, wire.enters(queue), {
          by: () => victim.tell({ do: 'hold', queue }),
          done: () => untilEntries(experiment, queue, 2),
        });
        const behind = await standIn(other, queue);
        const there = await untilEntries(experiment, queue, 3);
        await heal();
        const found = await victim.untilEvent('queued', { queue });
        expect(await untilEntries(experiment, queue, 3)).to.have.members([...there]);
        expect(there).to.have.members([first.key, found.key, behind.key]);
        expect(BigInt(found.order) < BigInt(behind.order), 'its first place').to.equal(true);
        await leave(other, first);
        await victim.untilEvent('acquired', { queue });
        await leave(victim, found);
        await granted(other, behind);
        await leave(other, behind);
      });
      await expectRight(experiment);
    });

    it('to a release leave no entry, and the next waiter is granted', async () => {
      const [victim, other] = await victimAndOther();
      await oneByOne(async (run) => {
        const queue = experiment.queue(`left-${run}`);
        const held = await holdNow(victim, queue);
        const next = await standIn(other, queue);
        const heal = await thief.steal(victim, wire.leaves(held.key), {
          by: () => victim.tell({ do: 'release', queue }),
          done: () => other.untilEvent('acquired', { queue }),
        });
        await heal();
        await victim.untilEvent('left', { queue });
        expect(await untilEntries(experiment, queue, 1)).to.deep.equal([next.key]);
        await leave(other, next);
      });
      await expectRight(experiment);
    });

    it('to a heartbeat cost no worker its hold', async () => {
      const [victim, other] = await victimAndOther();
      const queue = experiment.queue('held');
      const held = await holdNow(victim, queue);
      const next = await standIn(other, queue);
      await oneByOne(async () => {
        const from = victim.events.length;
        const heal = await thief.steal(victim, wire.heartbeats(held.session));
        await heal();
        await victim.untilEvent('beat', { from: victim.events.length });
        expect(victim.events.slice(from).map(({ ev }) => ev)).to.not.include('session-lost');
        expect(isHeld(victim, held), 'held').to.equal(true);
        expect(await untilEntries(experiment, queue, 2)).to.have.members([held.key, next.key]);
      });
      await expectRight(experiment);
    });

    it('to the closing of a session leave no entry in the queue', async () => {
      await oneByOne(async (run) => {
        const [victim, other] = await victimAndOther();
        const queue = experiment.queue(`closed-${run}`);
        await holdNow(victim, queue);
        const next = await standIn(other, queue);
        const heal = await thief.steal(victim, wire.closes, {
          by: () => victim.tell({ do: 'close' }),
          done: () => other.untilEvent('acquired', { queue }),
        });
        await heal();
        expect(await within(END_WITHIN_MS, victim.ended)).to.deep.equal({ code: 0, signal: null });
        expect(await untilEntries(experiment, queue, 1)).to.deep.equal([next.key]);
        await dismiss(other);
      });
      await expectRight(experiment);
    });
  });
}
