import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import type { ChaosEvent } from '@queuelock/harness/check/event';
import { abandonTrials, startExperiment, type Experiment } from './experiment.ts';
import { findFakeTime, type FakeTime, type FakedWorker, type WallClock } from './faketime.ts';
import { STORES } from './profiles.ts';
import { TEST_TIMEOUT_MS, RUNS, expectRight, oneByOne } from './runs.ts';
import type { WorkerProcess } from './worker-process.ts';
import { stampNow } from '@queuelock/harness/check/worker-record';

const INSTALLED_WITHIN_MS = 600_000;
const HOUR_S = 3_600;
const SWING_S = 5;
const SWING_EVERY_MS = 1_000;
const CONTROL_ATTEMPTS = 3;
// Number of heartbeats that the core sends per TTL.
const BEATS = 4;

for (const store of STORES) {
  describe(`clients with wrong clocks, on three members of ${store}`, function () {
    this.timeout(TEST_TIMEOUT_MS + RUNS * 60_000);
    let fakeTime: FakeTime;
    let wallClocks: readonly WallClock[] = [];
    let swing: NodeJS.Timeout | undefined;

    before(async function () {
      // Sets a long time limit, because the hook may have to install libfaketime.
      this.timeout(INSTALLED_WITHIN_MS);
      fakeTime = await findFakeTime(this);
    });
    afterEach(async () => {
      clearInterval(swing);
      await abandonTrials().finally(() => {
        for (const clock of wallClocks) clock.remove();
        wallClocks = [];
      });
    });

    it('are not affected by a wall clock that jumps by an hour or swings by 5 s', async () => {
      const experiment = await startExperiment({ store });
      const [ahead, behind, swinging] = (wallClocks = Array.from({ length: 3 }, () => fakeTime.wallClock()));
      const crews = await Promise.all(wallClocks.map((clock) => Crew.gather(experiment, clock.worker)));
      await oneByOne(async () => {
        const lines = await Promise.all(crews.map((crew) => crew.lineUp()));
        const healed = await experiment.fault('time of day jumps', 'clients', async () => {
          ahead!.set(HOUR_S);
          behind!.set(-HOUR_S);
        });
        swing = setInterval(() => swinging!.set(swinging!.seconds > 0 ? -SWING_S : SWING_S), SWING_EVERY_MS);
        await Promise.all(crews.map(({ holder }) => beatsFor(holder, 1.2 * experiment.timing.ttlMs)));
        clearInterval(swing);
        for (const [index, { holder, next }] of crews.entries()) {
          const { queue, from } = lines[index]!;
          const reports = holder.events.slice(from);
          expect(reports.map(({ ev }) => ev)).to.include('beat');
          expect(hastyDoubts(reports, experiment.timing.ttlMs)).to.be.empty;
          expect(holder.openAttempts.map(({ ev }) => ev)).to.deep.equal(['acquired', 'queued']);
          holder.tell({ do: 'release', queue });
          await next.untilEvent('acquired', { queue });
          next.tell({ do: 'release', queue });
        }
        for (const clock of wallClocks) clock.set(0);
        healed();
      });
      await expectRight(experiment);
    });

    for (const rates of [[0.99, 1.01], [0.9]]) {
      it(`notice the loss of their lock in time when cut off, with clocks at x${rates.join(' or x')} of the true rate`, async () => {
        const experiment = await startExperiment({ store });
        const crews = await Promise.all(rates.map((rate) => Crew.gather(experiment, fakeTime.atRate(rate))));
        await oneByOne(async () => {
          await Promise.all(crews.map((crew) => crew.loseOnce()));
        });
        const { numbers } = await expectRight(experiment);
        expect(numbers.gaps.lost).to.have.lengthOf(rates.length * RUNS);
      });
    }

    it('(control) believe for too long that they hold the lock when all their clocks run 10% too slowly', async () => {
      const broken = new Set<string>();
      // The boot clock would correct the slow clocks, because libfaketime does not change it. So these
      // workers do not read it, and believe half a second too long that they hold. The checker notices that
      // only if a worker gets processor time during that half second, so there are several attempts.
      for (let attempt = 0; attempt < CONTROL_ATTEMPTS && !broken.has('S2'); attempt += 1) {
        const experiment = await startExperiment({ store });
        const crew = await Crew.gather(experiment, fakeTime.atRate(0.9, { alone: true }));
        await crew.loseOnce();
        const { findings } = await experiment.end();
        await rm(experiment.directory, { recursive: true, force: true });
        for (const { rule } of findings) broken.add(rule);
      }
      expect([...broken]).to.include('S2');
    });
  });
}

/** A worker whose clock is wrong, and a worker that waits behind it and whose clock is right. */
class Crew {
  readonly holder: WorkerProcess;
  readonly next: WorkerProcess;
  readonly #experiment: Experiment;
  #lines = 0;

  private constructor(experiment: Experiment, holder: WorkerProcess, next: WorkerProcess) {
    this.#experiment = experiment;
    this.holder = holder;
    this.next = next;
  }

  static async gather(experiment: Experiment, faked: FakedWorker): Promise<Crew> {
    const [holder, next] = await Promise.all([experiment.addWorker(faked), experiment.addWorker()]);
    return new Crew(experiment, holder, next);
  }

  /**
   * Enqueues the worker with the wrong clock, then the worker with the right clock, then the first one again.
   * So the worker with the wrong clock both holds and waits behind the other worker.
   */
  async lineUp(): Promise<{ readonly queue: string; readonly from: number }> {
    const { holder, next } = this;
    const queue = this.#experiment.queue(`${holder.id}-${(this.#lines += 1)}`);
    const from = holder.events.length;
    holder.tell({ do: 'hold', queue, effectEveryMs: 100 });
    await holder.untilEvent('acquired', { queue });
    for (const worker of [holder, next]) {
      const eventCount = worker.events.length;
      worker.tell({ do: 'hold', queue, effectEveryMs: 100 });
      await worker.untilEvent('queued', { queue, from: eventCount });
    }
    return { queue, from };
  }

  /**
   * Cuts the holder off from all servers until the waiting worker is granted the lock, and connects it again.
   */
  async loseOnce(): Promise<void> {
    const { holder, next } = this;
    const { members } = this.#experiment.cluster;
    const { queue } = await this.lineUp();
    const from = holder.events.length;
    await beatsFor(holder, this.#experiment.timing.ttlMs / 2);
    let undo: (() => Promise<void>)[] = [];
    const healed = await this.#experiment.fault('client cut off', holder.id, async () => {
      undo = await Promise.all(members.map((member) => member.cut({ from: holder.place! })));
    });
    await holder.untilEvent('revoked', { queue, from });
    await next.untilEvent('acquired', { queue });
    await Promise.all(undo.map((heal) => heal()));
    healed();
    next.tell({ do: 'release', queue });
    await holder.until(() => holder.openAttempts.length === 0, { what: 'the end of its wait' });
  }
}

/**
 * Resolves at the first heartbeat of the worker that is confirmed at least `ms` milliseconds after this call.
 */
async function beatsFor(worker: WorkerProcess, ms: number): Promise<void> {
  const until = BigInt(stampNow()) + BigInt(Math.round(ms * 1e6));
  await worker.untilEvent('beat', { from: worker.events.length, matches: ({ t }) => BigInt(t) >= until });
}

/**
 * Returns the events in which the worker became suspect without a cause: it had sent its last confirmed
 * heartbeat less than a heartbeat interval before. An overdue response is a cause, because it makes any
 * client suspect, whatever its clock.
 */
function hastyDoubts(reportedEvents: readonly ChaosEvent[], ttlMs: number): readonly ChaosEvent[] {
  return reportedEvents.filter((event, at) => {
    if (event.ev !== 'doubt') return false;
    const heartbeat = reportedEvents.slice(0, at).findLast((before) => before.ev === 'beat');
    return (
      heartbeat !== undefined && Number(BigInt(event.t) - BigInt(heartbeat.sentAt)) / 1e6 < ttlMs / BEATS
    );
  });
}
