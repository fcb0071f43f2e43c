import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { AttemptEvent, ChaosEvent } from '@queuelock/harness/check/event';
import { abandonTrials, startExperiment, type Experiment } from './experiment.ts';
import { STORES } from './profiles.ts';
import { readsQueues, sessionOf, sessionsOf } from './requests.ts';
import { TEST_TIMEOUT_MS, RUNS, expectRight, repeatedlyIn } from './runs.ts';
import type { WorkerProcess } from './worker-process.ts';
import { stampNow } from '@queuelock/harness/check/worker-record';

const EFFECT_EVERY_MS = 50;
// Number of waiters that survive when the test kills 3 of 20.
const HERD = 17;
const SETTLE_MS = 300;
// Range in milliseconds of the random delay before a fault.
const MOMENTS_MS = 1_000;

for (const store of STORES) {
  describe(`faults of workers, on three members of ${store}`, function () {
    this.timeout(TEST_TIMEOUT_MS + RUNS * 30_000);
    afterEach(abandonTrials);

    it("that kill a holder let the next waiter hold within the TTL and the server's expiry delay", async () => {
      const experiment = await startExperiment({ store });
      await repeatedlyIn(experiment, async (run) => {
        const { holder, next } = await holderAndNext(experiment, `queue-${run}`);
        await pause(experiment.chance.below(MOMENTS_MS));
        await holder.worker.kill();
        const acquired = await next.worker.untilEvent('acquired');
        expect(BigInt(acquired.token) > BigInt(holder.token)).to.equal(true);
      });
      await expectRight(experiment);
    });

    it('that kill waiters make only the waiters directly behind them read the queue', async () => {
      const experiment = await startExperiment({ store });
      const run = async (number: number): Promise<void> => {
        const crowd = await crowdOf20(experiment, `queue-${number}`);
        const killedAt = performance.now();
        await Promise.all(crowd.victims.map((victim) => victim.kill()));
        // A killed worker's session lives for up to a TTL. It may end after three quarters of that time,
        // since its last heartbeat may be a quarter of the TTL old.
        await pause(0.7 * experiment.timing.ttlMs - (performance.now() - killedAt));
        const before = await readsQueues(experiment, crowd.others);
        await untilRemoved(experiment, crowd.victims.map(sessionOf));
        const reads = (await readsQueues(experiment, crowd.others)) - before;
        // The waiter behind each of the three killed waiters reads the queue once or twice. A few of the
        // other waiters may make their regular read, which is due at long intervals.
        expect(reads).to.be.within(2, HERD / 2);
        expect(await served(crowd)).to.deep.equal(crowd.living);
      };
      await repeatedlyIn(experiment, run, 1);
      await expectRight(experiment);
    });

    it('that freeze a holder for 1.5 TTL make it notice the loss when it resumes', async () => {
      const experiment = await startExperiment({ store });
      const frozenMs = 1.5 * experiment.timing.ttlMs;
      await repeatedlyIn(experiment, async (run) => {
        const { holder, next, queue } = await holderAndNext(experiment, `queue-${run}`);
        const { worker } = holder;
        await worker.freeze();
        const eventCount = worker.events.length;
        await Promise.all([pause(frozenMs), acceptedBy(next.worker, queue)]);
        // Sends the frozen holder the order to write before its process resumes, so that it writes before it
        // does anything else.
        worker.tell({ do: 'effect', queue });
        const thawedAt = stampNow();
        await worker.thaw();
        const write = await worker.untilEvent('effect', {
          from: eventCount,
          matches: ({ resource, t }) => resource === 'store' && isSince(t, thawedAt),
        });
        expect(write).to.include({ believed: false, outcome: 'refused' });
        expect(beliefsSince(thawedAt, worker)).to.not.include(true);
        await worker.untilEvent('revoked', { from: eventCount });
      });
      await expectRight(experiment);
    });

    it('(control) that freeze a holder cause a violation when the holder relies on twice its proven time', async () => {
      const experiment = await startExperiment({ store, rule: 'overlong' });
      const { holder, next, queue } = await holderAndNext(experiment, 'queue');
      await holder.worker.untilEvent('beat', { from: holder.worker.events.length });
      await holder.worker.freeze();
      // Resumes the holder as soon as the next worker has written. The holder of this control relies on twice
      // its proven time, so it still believes that it holds.
      await acceptedBy(next.worker, queue);
      await holder.worker.thaw();
      await holder.worker.untilEvent('revoked');
      const { findings, numbers } = await experiment.end();
      await rm(experiment.directory, { recursive: true });
      expect(findings.map(({ rule }) => rule)).to.include.members(['S2', 'S3']);
      expect(Math.min(...numbers.gaps.lost)).to.be.lessThan(0);
    });

    it("that block a holder's event loop for half a TTL, directly after a heartbeat, cost no holder its lock", async () => {
      const experiment = await startExperiment({ store });
      await repeatedlyIn(experiment, async (run) => {
        const { holder, queue } = await holderAndNext(experiment, `queue-${run}`);
        await holder.worker.untilEvent('beat', { from: holder.worker.events.length });
        const { first, heard } = await stall(holder.worker, 0.5 * experiment.timing.ttlMs);
        expect(first.held).to.equal(true);
        await holder.worker.untilEvent('beat', { from: heard });
        await holder.worker.untilEvent('effect', { from: heard, queue });
        expect(holder.worker.events.map(({ ev }) => ev)).to.not.include('revoked');
      });
      await expectRight(experiment);
    });

    it("that block a holder's event loop for 0.9 TTL either do not end its hold, or let it notice the loss", async () => {
      const experiment = await startExperiment({ store });
      await repeatedlyIn(experiment, async (run) => {
        const { holder, next, queue } = await holderAndNext(experiment, `queue-${run}`);
        await pause(experiment.chance.below(MOMENTS_MS));
        const { first } = await stall(holder.worker, 0.9 * experiment.timing.ttlMs);
        if (first.held) return;
        await next.worker.untilEvent('acquired', { queue });
        expect(beliefsSince(first.t, holder.worker)).to.not.include(true);
      });
      await expectRight(experiment);
    });

    it("that block a holder's event loop for 1.5 TTL make the holder notice the loss before it writes again", async () => {
      const experiment = await startExperiment({ store });
      await repeatedlyIn(experiment, async (run) => {
        const { holder, next, queue } = await holderAndNext(experiment, `queue-${run}`);
        await pause(experiment.chance.below(MOMENTS_MS));
        const { first } = await stall(holder.worker, 1.5 * experiment.timing.ttlMs);
        expect(first.held).to.equal(false);
        await next.worker.untilEvent('acquired', { queue });
        expect(beliefsSince(first.t, holder.worker)).to.not.include(true);
      });
      await expectRight(experiment);
    });

    it("that block a waiter's event loop during its grant never let the waiter hold with an expired entry", async () => {
      const experiment = await startExperiment({ store });
      await repeatedlyIn(experiment, async (run) => {
        const { holder, next, queue } = await holderAndNext(experiment, `queue-${run}`);
        const third = await experiment.addWorker();
        third.tell({ do: 'hold', queue, effectEveryMs: EFFECT_EVERY_MS });
        await third.untilEvent('queued');
        next.worker.tell({ do: 'stall', ms: 1.5 * experiment.timing.ttlMs });
        await next.worker.untilEvent('stalled');
        holder.worker.tell({ do: 'release', queue });
        await third.untilEvent('acquired');
        const failed = await next.worker.untilEvent('failed');
        expect(failed.code).to.equal('SESSION_LOST');
        expect(next.worker.events.map(({ ev }) => ev)).to.not.include('acquired');
      });
      await expectRight(experiment);
    });
  });
}

interface Crowd {
  readonly queue: string;
  readonly others: readonly WorkerProcess[];
  /** The first waiter of the queue, the one in the middle, and the last one. The test kills them. */
  readonly victims: readonly WorkerProcess[];
  /** Tokens of the entries of all workers that the test does not kill, in the order of the queue. */
  readonly living: readonly string[];
}

/**
 * Enqueues one holder and 20 waiters. Three of the waiters are processes of their own, which the test can
 * kill, and all others share three processes.
 */
async function crowdOf20(experiment: Experiment, name: string): Promise<Crowd> {
  const queue = experiment.queue(name);
  const workers = await experiment.addWorkers(6);
  const [holder, first, middle, last, ...others] = workers as WorkerProcess[];
  const victims = [first!, middle!, last!];
  const living: string[] = [];
  const stand = async (worker: WorkerProcess): Promise<void> => {
    const from = worker.events.length;
    worker.tell({ do: 'hold', queue });
    const { token } = await worker.untilEvent('queued', { from });
    if (!victims.includes(worker)) living.push(token);
  };
  await stand(holder!);
  for (let place = 0; place < 20; place += 1) {
    const victim = { 0: first, 9: middle, 19: last }[place];
    await stand(victim ?? others[place % others.length]!);
  }
  return { queue, others: [holder!, ...others], victims, living };
}

/**
 * Resolves when the servers have ended the given sessions, and the waiters behind these sessions have had
 * time to read the queue.
 */
async function untilRemoved(experiment: Experiment, sessions: readonly string[]): Promise<void> {
  for (;;) {
    const present = await sessionsOf(experiment);
    if (!sessions.some((session) => present.includes(session))) break;
    await pause(50);
  }
  await pause(SETTLE_MS);
}

/**
 * Makes each surviving worker release as soon as it holds. Returns their tokens in the order of the grants.
 */
async function served({ queue, others, living }: Crowd): Promise<string[]> {
  const granted = new Map<string, AcquiredEvent>();
  while (granted.size < living.length) {
    for (const worker of others) {
      for (const attempt of worker.openAttempts) {
        if (attempt.ev !== 'acquired' || attempt.queue !== queue || granted.has(attempt.token)) continue;
        granted.set(attempt.token, attempt);
        worker.tell({ do: 'release', queue, n: attempt.n });
      }
    }
    await pause(5);
  }
  const inTime = [...granted.values()].sort((a, b) => (BigInt(a.t) < BigInt(b.t) ? -1 : 1));
  return inTime.map(({ token }) => token);
}

type AcquiredEvent = Extract<AttemptEvent, { ev: 'acquired' }>;

/** Starts two workers. One holds and writes, and the other one waits behind it. */
async function holderAndNext(
  experiment: Experiment,
  name: string,
): Promise<{
  queue: string;
  holder: { worker: WorkerProcess; token: string };
  next: { worker: WorkerProcess };
}> {
  const queue = experiment.queue(name);
  const [holder, next] = await experiment.addWorkers(2);
  holder!.tell({ do: 'hold', queue, effectEveryMs: EFFECT_EVERY_MS });
  const { token } = await holder!.untilEvent('acquired');
  await acceptedBy(holder!, queue);
  next!.tell({ do: 'hold', queue, effectEveryMs: EFFECT_EVERY_MS });
  await next!.untilEvent('queued');
  return { queue, holder: { worker: holder!, token }, next: { worker: next! } };
}

type ReadEvent = Extract<ChaosEvent, { ev: 'look' }>;

/**
 * Blocks the worker's event loop. Returns the worker's first read of `held` after the block, and the index of
 * this read in the worker's events.
 */
async function stall(worker: WorkerProcess, ms: number): Promise<{ first: ReadEvent; heard: number }> {
  const from = worker.events.length;
  worker.tell({ do: 'stall', ms });
  const stalled = await worker.untilEvent('stalled', { from });
  const first = await worker.untilEvent('look', { from: worker.events.indexOf(stalled) });
  return { first, heard: worker.events.indexOf(first) };
}

/** Resolves when every resource has accepted a write of the worker. */
async function acceptedBy(worker: WorkerProcess, queue: string): Promise<void> {
  for (const resource of ['store', 'sql', 'log']) {
    await worker.untilEvent('effect', {
      queue,
      matches: (effect) => effect.resource === resource && effect.outcome === 'accepted',
    });
  }
}

/**
 * Returns, for each read and write of the worker that was recorded after `since`, whether the worker believed
 * that it held. A write is recorded when its response arrives, so some writes were sent before `since`.
 */
function beliefsSince(since: string, { events }: WorkerProcess): boolean[] {
  return events.flatMap((event) => {
    if (!isSince(event.t, since)) return [];
    if (event.ev === 'look') return [event.held];
    return event.ev === 'effect' ? [event.believed] : [];
  });
}

function isSince(t: string, since: string): boolean {
  return BigInt(t) >= BigInt(since);
}
