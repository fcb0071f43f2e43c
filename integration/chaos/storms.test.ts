import { expect } from 'chai';
import type { ChaosEvent } from './event.ts';
import {
  abandonExperiments,
  startExperiment,
  type Experiment,
  type ExperimentOptions,
} from './experiment.ts';
import { STORES, ZOOKEEPER_TIMING, timingOf, type StoreName } from './profiles.ts';
import { RUNS, expectRight, oneByOne } from './runs.ts';
import type { WorkerProcess } from './worker-process.ts';
import { stampNow } from './worker-record.ts';

const SESSIONS_A_PROCESS = 200;
/** A multiple of that. */
const SESSIONS = Number(process.env['QUEUELOCK_CHAOS_SESSIONS'] ?? (RUNS > 1 ? 1_000 : SESSIONS_A_PROCESS));
/** In each of them one session holds and the others wait. */
const QUEUES = 40;
/** So many sessions are opened at the same time. */
const AT_ONCE = 40;

for (const store of STORES) {
  describe(`${SESSIONS} sessions at once, on three members of ${store}`, function () {
    this.timeout(120_000 + RUNS * 120_000);
    afterEach(abandonExperiments);

    it('30: of processes that are killed all sessions end, and whoever waits behind is served once', async () => {
      const allowedMs = allGoneMs(store);
      await oneByOne(async () => {
        const { experiment, crowds, queues } = await crowded({ store, limits: { crashMs: allowedMs } });
        const survivor = await experiment.addWorker();
        for (const queue of queues) survivor.tell({ do: 'hold', queue });
        await untilPlaced(survivor, QUEUES);

        const killedAt = BigInt(stampNow());
        await Promise.all(crowds.map((crowd) => crowd.kill()));
        await Promise.all(queues.map((queue) => survivor.untilEvent('acquired', { queue })));
        const acquired = survivor.events.filter(({ ev }) => ev === 'acquired');
        const tookMs = Math.max(...acquired.map(({ t }) => Number(BigInt(t) - killedAt) / 1e6));
        expect(tookMs).to.be.at.most(allowedMs);
        await expectRight(experiment);
        expect(survivor.events.filter(({ ev }) => ev === 'acquired')).to.have.lengthOf(QUEUES);
      });
    });

    it('31: with the settings that servers come with, no session ends while the leader is away', async () => {
      await oneByOne(async () => {
        const { experiment, crowds } = await crowded({ store, profile: 'default' });
        const leader = await experiment.cluster.leader();
        const killedAt = BigInt(stampNow());
        const healed = await experiment.fault('leader killed', leader.node, () => leader.kill());
        await Promise.all(crowds.map((crowd) => untilAllBeat(crowd, killedAt)));
        await leader.start();
        await experiment.cluster.ready();
        healed();
        const losses = crowds.flatMap(({ events }) => events.filter(isLoss));
        await expectRight(experiment);
        expect(losses).to.be.empty;
      });
    });
  });
}

interface Crowded {
  readonly experiment: Experiment;
  readonly crowds: readonly WorkerProcess[];
  readonly queues: readonly string[];
}

/** Every session stands in one of the queues. */
async function crowded(options: ExperimentOptions): Promise<Crowded> {
  const experiment = await startExperiment(options);
  const queues = Array.from({ length: QUEUES }, (_, index) => experiment.queue(`queue-${index}`));
  const crowds = await Promise.all(
    Array.from({ length: SESSIONS / SESSIONS_A_PROCESS }, () =>
      experiment.addWorker({ clients: SESSIONS_A_PROCESS }),
    ),
  );
  for (const crowd of crowds) await lineUp(crowd, queues);
  expect(crowds.map(({ events }) => sessionsOf(events).size)).to.deep.equal(
    crowds.map(() => SESSIONS_A_PROCESS),
  );
  return { experiment, crowds, queues };
}

async function lineUp(crowd: WorkerProcess, queues: readonly string[]): Promise<void> {
  for (let from = 0; from < SESSIONS_A_PROCESS; from += AT_ONCE) {
    for (let session = from; session < from + AT_ONCE; session += 1)
      crowd.tell({ do: 'hold', queue: queues[session % QUEUES]! });
    await untilPlaced(crowd, from + AT_ONCE);
  }
}

/** Until so many of its attempts have stood in line. */
async function untilPlaced(worker: WorkerProcess, count: number): Promise<void> {
  let placed = 0;
  await worker.until(({ ev }) => ev === 'queued' && (placed += 1) === count, { what: `${count} places` });
}

function sessionsOf(events: readonly ChaosEvent[]): Set<string> {
  return new Set(events.flatMap((event) => (event.ev === 'beat' ? [event.session] : [])));
}

/** Until each of its sessions has had a heartbeat confirmed that was sent after this moment, or one was lost. */
async function untilAllBeat(crowd: WorkerProcess, after: bigint): Promise<void> {
  const silent = sessionsOf(crowd.events);
  const hears = (event: ChaosEvent): boolean => {
    if (event.ev === 'beat' && BigInt(event.sentAt) > after) silent.delete(event.session);
    return silent.size === 0 || isLoss(event);
  };
  await crowd.until(hears, { what: 'a heartbeat of every session' });
}

function isLoss({ ev }: ChaosEvent): boolean {
  return ev === 'session-lost' || ev === 'revoked' || ev === 'failed';
}

/** From the death of that many sessions until the last one of them is gone. */
function allGoneMs(store: StoreName): number {
  const { ttlMs } = timingOf(store, 'fast', false);
  return store === 'etcd' ? ttlMs + 2_500 : ttlMs + 2 * ZOOKEEPER_TIMING.fast.tickMs + 2_000;
}
