import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import type { AttemptEvent, ChaosEvent } from '@queuelock/harness/check/event';
import { abandonTrials, startExperiment, type Experiment } from './experiment.ts';
import { STORES } from './profiles.ts';
import { looksAtQueues, sessionOf, sessionsOf } from './requests.ts';
import { TEST_TIMEOUT_MS, RUNS, expectRight, repeatedlyIn } from './runs.ts';
import type { WorkerProcess } from './worker-process.ts';
import { stampNow } from '@queuelock/harness/check/worker-record';

const EFFECT_EVERY_MS = 50;
// Number of waiters that are not killed.
const HERD = 17;
const SETTLE_MS = 300;
// Time in milliseconds within which a fault happens at a random moment.
const MOMENTS_MS = 1_000;

for (const store of STORES) {
  describe(`faults of workers, on three members of ${store}`, function () {
    this.timeout(TEST_TIMEOUT_MS + RUNS * 30_000);
    afterEach(abandonTrials);

    it("stop no queue: a killed holder is followed by the next within its TTL and the server's expiry delay", async () => {
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
        // The last heartbeats may have been confirmed up to a quarter of the TTL before.
        await pause(0.7 * experiment.timing.ttlMs - (performance.now() - killedAt));
        const before = await looksAtQueues(experiment, crowd.others);
        await untilGone(experiment, crowd.victims.map(sessionOf));
        const looks = (await looksAtQueues(experiment, crowd.others)) - before;
        // Each victim has two waiters behind it that read once or twice. All waiters also read occasionally.
        expect(looks).to.be.within(2, HERD / 2);
        expect(await served(crowd)).to.deep.equal(crowd.living);
      };
      await repeatedlyIn(experiment, run, 1);
      await expectRight(experiment);
    });

    it('that freeze a holder for 1.5 TTL let it know the loss in its first statement, and its writes are refused', async () => {
      const experiment = await startExperiment({ store });
      const frozenMs = 1.5 * experiment.timing.ttlMs;
      await repeatedlyIn(experiment, async (run) => {
        const { holder, next, queue } = await holderAndNext(experiment, `queue-${run}`);
        const { worker } = holder;
        await worker.freeze();
        const eventCount = worker.events.length;
        await Promise.all([pause(frozenMs), acceptedBy(next.worker, queue)]);
        // The orders are read as soon as the process resumes.
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

    it('(control) that freeze a holder which takes twice its time for proven are reported by the checker', async () => {
      const experiment = await startExperiment({ store, rule: 'overlong' });
      const { holder, next, queue } = await holderAndNext(experiment, 'queue');
      await holder.worker.untilEvent('beat', { from: holder.worker.events.length });
      await holder.worker.freeze();
      // Resumes the holder now. It takes twice its proven time for proven, and that time must not be over
      // yet.
      await acceptedBy(next.worker, queue);
      await holder.worker.thaw();
      await holder.worker.untilEvent('revoked');
      const { findings, numbers } = await experiment.end();
      await rm(experiment.directory, { recursive: true });
      expect(findings.map(({ rule }) => rule)).to.include.members(['S2', 'S3']);
      expect(Math.min(...numbers.gaps.lost)).to.be.lessThan(0);
    });

    it("that block a holder's event loop for half its TTL after a heartbeat cost no hold", async () => {
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

    it("that block a holder's event loop for 0.9 TTL leave it the hold, or let it know the loss", async () => {
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

    it("that block a holder's event loop for 1.5 TTL let it know the loss before any effect", async () => {
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

    it("that block a waiter's event loop across its grant never let it hold with a dead entry", async () => {
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
  /** The waiters at the head, in the middle and at the tail, which are killed. */
  readonly victims: readonly WorkerProcess[];
  /** Tokens of all entries except those of the victims, in order. */
  readonly living: readonly string[];
}

/**
 * Makes one holder and 20 waiters: three processes with one entry each, and other processes with many
 * entries.
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

/** Resolves when the servers have ended these sessions, and the waiters behind them have read. */
async function untilGone(experiment: Experiment, sessions: readonly string[]): Promise<void> {
  for (;;) {
    const present = await sessionsOf(experiment);
    if (!sessions.some((session) => present.includes(session))) break;
    await pause(50);
  }
  await pause(SETTLE_MS);
}

/** Returns the tokens in the order of the grants. Each worker releases as soon as it holds. */
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

type LookEvent = Extract<ChaosEvent, { ev: 'look' }>;

/** Blocks the worker's event loop. Returns the first read after that, and its index. */
async function stall(worker: WorkerProcess, ms: number): Promise<{ first: LookEvent; heard: number }> {
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
 * Returns the results of the worker's reads and writes after `since`. A write is recorded when its response
 * arrives, so some of them were sent earlier.
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
