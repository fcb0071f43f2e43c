import { expect } from 'chai';
import { livedBetween } from '@queuelock/harness/lived-time';
import type { ChaosEvent } from '@queuelock/harness/check/event';
import { abandonTrials, startExperiment, type Experiment, type ExperimentOptions } from './experiment.ts';
import { STORES, ZOOKEEPER_TIMING, timingOf, type StoreName } from './profiles.ts';
import { TEST_TIMEOUT_MS, RUNS, expectRight, oneByOne } from './runs.ts';
import type { WorkerProcess } from './worker-process.ts';
import { stampNow } from '@queuelock/harness/check/worker-record';

const SESSIONS = Number(process.env['QUEUELOCK_CHAOS_SESSIONS'] ?? (RUNS > 1 ? 1_000 : 20));
// Number of sessions in one process. Each session has its own connections, and a process with more sessions
// would take longer than the TTL to reopen all connections at once.
const SESSIONS_A_PROCESS = Math.min(100, SESSIONS);
/** Number of queues. In each of them one session holds and the others wait. */
const QUEUES = Math.min(20, SESSIONS / 2);
/** Number of sessions that are opened at the same time. */
const AT_ONCE = 20;

for (const store of STORES) {
  describe(`${SESSIONS} simultaneous sessions, on three members of ${store}`, function () {
    this.timeout(TEST_TIMEOUT_MS + RUNS * 120_000);
    afterEach(abandonTrials);

    it('all end when their processes are killed, and each waiter behind them is granted once', async () => {
      const allowedMs = allGoneMs(store);
      await oneByOne(async () => {
        const { experiment, crowds, queues } = await crowded({ store, limits: { crashMs: allowedMs } });
        const survivor = await experiment.addWorker();
        await standIn(survivor, queues);

        const killedAt = stampNow();
        await Promise.all(crowds.map((crowd) => crowd.kill()));
        await Promise.all(queues.map((queue) => survivor.untilEvent('acquired', { queue })));
        const acquired = survivor.events.filter(({ ev }) => ev === 'acquired');
        const tookMs = Math.max(...acquired.map(({ t }) => livedBetween(killedAt, t)));
        expect(tookMs).to.be.at.most(allowedMs);
        await expectRight(experiment);
        expect(survivor.events.filter(({ ev }) => ev === 'acquired')).to.have.lengthOf(QUEUES);
      });
    });

    it('survive while there is no leader, with default settings of the servers', async () => {
      await oneByOne(async () => {
        const { experiment, crowds } = await crowded({ store, profile: 'default' });
        const leader = await experiment.cluster.leader();
        const killedAt = BigInt(stampNow());
        const healed = await experiment.fault('leader killed', leader.node, () => leader.kill());
        const isLost = (event: ChaosEvent): boolean => isLoss(event) && BigInt(event.t) > killedAt;
        await Promise.all(crowds.map((crowd) => untilAllBeat(crowd, killedAt, isLost)));
        await leader.start();
        await experiment.cluster.ready();
        healed();
        const losses = crowds.flatMap(({ events }) => events.filter(isLost));
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

/**
 * Opens all sessions, and enqueues each of them in one of the queues. On a busy machine some sessions may end
 * before all are enqueued, and new ones replace them.
 */
async function crowded(options: ExperimentOptions): Promise<Crowded> {
  const experiment = await startExperiment(options);
  const queues = Array.from({ length: QUEUES }, (_, index) => experiment.queue(`queue-${index}`));
  const crowds = await Promise.all(
    Array.from({ length: SESSIONS / SESSIONS_A_PROCESS }, () =>
      experiment.addWorker({ clients: SESSIONS_A_PROCESS }),
    ),
  );
  for (const crowd of crowds) await lineUp(crowd, queues);
  // Waits for a heartbeat of every present session. On a busy machine some sessions may have ended since, and
  // the lock clients have opened new ones.
  const linedUpAt = BigInt(stampNow());
  await Promise.all(crowds.map((crowd) => untilAllBeat(crowd, linedUpAt)));
  return { experiment, crowds, queues };
}

async function lineUp(crowd: WorkerProcess, queues: readonly string[]): Promise<void> {
  for (let from = 0; from < SESSIONS_A_PROCESS; from += AT_ONCE)
    await standIn(
      crowd,
      Array.from({ length: AT_ONCE }, (_, index) => queues[(from + index) % QUEUES]!),
    );
}

/**
 * Resolves when the worker has had an entry in each of the given queues. If an enqueue fails because its
 * session ended, the worker enqueues again.
 */
async function standIn(worker: WorkerProcess, queues: readonly string[]): Promise<void> {
  const joining = new Set<number>();
  let toBegin = 0;
  const hold = (queue: string): void => {
    toBegin += 1;
    worker.tell({ do: 'hold', queue });
  };
  const areThere = (event: ChaosEvent): boolean => {
    if (event.ev === 'enqueue') {
      toBegin -= 1;
      joining.add(event.n);
    } else if (event.ev === 'queued') joining.delete(event.n);
    else if (event.ev === 'failed' && joining.delete(event.n)) hold(event.queue);
    return toBegin === 0 && joining.size === 0;
  };
  const from = worker.events.length;
  queues.forEach(hold);
  await worker.until(areThere, { from, what: `${queues.length} places` });
}

/**
 * Resolves when every lock client of the process has a session with a confirmed heartbeat that was sent after
 * the time `after`.
 */
async function untilAllBeat(
  crowd: WorkerProcess,
  after: bigint,
  isInVain: (event: ChaosEvent) => boolean = () => false,
): Promise<void> {
  const beating = new Set<string>();
  const isOver = (event: ChaosEvent): boolean => {
    if (event.ev === 'beat' && BigInt(event.sentAt) > after) beating.add(event.session);
    return beating.size === SESSIONS_A_PROCESS || isInVain(event);
  };
  await crowd.until(isOver, { what: `a heartbeat of ${SESSIONS_A_PROCESS} sessions` });
}

function isLoss({ ev }: ChaosEvent): boolean {
  return ev === 'session-lost' || ev === 'revoked' || ev === 'failed';
}

/**
 * Returns the longest time in milliseconds until all sessions have expired on the servers, when all their
 * processes are killed at the same time.
 */
function allGoneMs(store: StoreName): number {
  const { ttlMs } = timingOf(store, 'fast', false);
  return store === 'etcd' ? ttlMs + 2_500 : ttlMs + 2 * ZOOKEEPER_TIMING.fast.tickMs + 2_000;
}
