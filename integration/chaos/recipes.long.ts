import { expect } from 'chai';
import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { KINDS, kindOfClaim, type Kind } from '@queuelock/harness/check/kinds';
import { cutOff } from './cut-off.ts';
import type { ChaosEvent } from '@queuelock/harness/check/event';
import { abandonTrials, startExperiment, type Experiment } from './experiment.ts';
import { STORES, timingOf, type StoreName } from './profiles.ts';
import { holdNow, lineUpRecipes, type Asked, type RecipesLine } from './recipes-line.ts';
import { recipesLoad } from './recipes-load.ts';
import { TEST_TIMEOUT_MS, RUNS, expectRight, repeatedlyIn } from './runs.ts';
import { isHeld, leave } from './standing.ts';
import type { WorkerProcess } from './worker-process.ts';
import { stampNow } from '@queuelock/harness/check/worker-record';

const HOLD_MS = [0, 30] as const;
/** Least number of holds that a test expects of each kind of lock, over all of its repetitions. */
const LEAST_HOLDS = 5;

for (const store of STORES) {
  describe(`locks and leaderships of all kinds, on three members of ${store}`, function () {
    this.timeout(TEST_TIMEOUT_MS + RUNS * 40_000);
    // TTL of workers that have to lose their sessions; short, to save time. All other workers have a TTL that
    // is long enough for a busy machine.
    const { ttlMs } = timingOf(store, 'fast', true);
    afterEach(abandonTrials);

    it('are granted to the next waiter when holders and waiters are killed', async () => {
      await inACrowd(store, async ({ experiment, crowd }, run) => {
        const line = await lineUpRecipes(experiment, run, { ttlMs });
        await Promise.all([line.victim.kill(), crowd[0]!.kill()]);
        await line.served();
      });
    });

    it('are lost by frozen holders, which notice the loss when they resume', async () => {
      await inACrowd(store, async ({ experiment, crowd }, run) => {
        const line = await lineUpRecipes(experiment, run, { ttlMs });
        const still = [line.victim, crowd[0]!];
        await Promise.all(still.map((worker) => worker.freeze()));
        await Promise.all([line.served(), pause(1.5 * ttlMs)]);
        await Promise.all(still.map((worker) => worker.thaw()));
        await allRevoked(line);
      });
    });

    it('(control) are held by two clients when a frozen holder relies on twice the proven time', async () => {
      const experiment = await startExperiment({ store });
      const line = await lineUpRecipes(experiment, 0, { rule: 'overlong' });
      await line.victim.untilEvent('beat', { from: line.victim.events.length });
      await line.victim.freeze();
      // Resumes the holder as soon as the next waiters are granted. The holder of this control relies on
      // twice its proven time, so it still believes that it holds.
      await line.served();
      await line.victim.thaw();
      await allRevoked(line);
      expect(await whereFound(experiment)).to.include.members(line.contested);
    });

    it('are lost by holders that are cut off, before other clients are granted them', async () => {
      await inACrowd(store, async ({ experiment, crowd }, run) => {
        const line = await lineUpRecipes(experiment, run, { ttlMs });
        await Promise.all([
          cutOff(experiment, line.victim, {
            forMs: 2 * ttlMs,
            meanwhile: async () => {
              await allRevoked(line);
              await line.served();
            },
          }),
          cutOff(experiment, crowd[0]!, { forMs: 0.5 * ttlMs }),
        ]);
      });
    });

    it('are kept by their holders when the leading server is killed', async () => {
      await inACrowd(store, async ({ experiment }, run) => {
        const line = await lineUpRecipes(experiment, run);
        const { victim, held, turning } = line;
        const leader = await experiment.cluster.leader();
        const healed = await experiment.fault('leader killed', leader.node, () => leader.kill());
        victim.tell({ do: 'downgrade', queue: turning.held.queue });
        await experiment.cluster.leader({ otherThan: leader });
        await line.peer.until((event) => isOf(turning.reader.n, event, 'acquired', 'failed'));
        await leader.start();
        await experiment.cluster.ready();
        healed();
        if (!(await survived(line))) return;
        expect(isHeld(line.next, turning.writer), 'a writer beside readers').to.equal(false);
        for (const entry of held) await leave(victim, entry);
        await line.served();
      });
    });

    it('(control) are held by too many clients when the clients admit one entry too many', async () => {
      const experiment = await startExperiment({ store, rule: 'generous' });
      const [one, other] = (await experiment.addWorkers(2)) as [WorkerProcess, WorkerProcess];
      const name = (kind: string): string => experiment.queue(kind);
      const shared = name('shared');
      const permits = { queue: name('permits'), terms: { limit: 3, permits: 2 } };
      const leaders = { queue: name('leaders'), terms: { leader: true } } as const;
      const several = name('several');
      const pairs: readonly [Asked, Asked][] = [
        [{ queue: shared }, { queue: shared, terms: { shared: true } }],
        [permits, permits],
        [leaders, leaders],
        [
          { queue: name('first'), with: [several] },
          { queue: name('last'), with: [several] },
        ],
      ];
      for (const [first, second] of pairs) {
        await holdNow(one, first);
        await holdNow(other, second);
      }
      const contested = [shared, permits.queue, leaders.queue, several];
      expect(await whereFound(experiment)).to.have.members(contested);
    });
  });
}

interface Scene {
  readonly experiment: Experiment;
  /** Workers that claim locks of all kinds. Faults affect only the first worker of the list. */
  readonly crowd: readonly WorkerProcess[];
}

/**
 * Calls `act`, which makes a fault, repeatedly, while several workers claim locks of all kinds. Before and
 * after each call it checks that each of these workers is granted every kind.
 */
async function inACrowd(store: StoreName, act: (scene: Scene, run: number) => Promise<void>): Promise<void> {
  const experiment = await startExperiment({ store });
  const { loads } = recipesLoad(experiment, { holdMs: HOLD_MS });
  const { ttlMs } = timingOf(store, 'fast', true);
  const run = async (number: number): Promise<void> => {
    const crowd = await Promise.all([
      experiment.addWorker({ ttlMs }),
      experiment.addWorker(),
      experiment.addWorker(),
    ]);
    for (const worker of crowd) for (const load of loads) worker.tell(load);
    await Promise.all(crowd.map(holdsEachKind));
    await act({ experiment, crowd }, number);
    const living = crowd.filter(({ running }) => running);
    await Promise.all(living.map(holdsEachKind));
    for (const worker of living) worker.tell({ do: 'drain' });
  };
  await repeatedlyIn(experiment, run, 1);
  const { numbers } = await expectRight(experiment);
  for (const kind of KINDS) expect(numbers.kinds[kind] ?? 0, kind).to.be.at.least(LEAST_HOLDS);
}

/** Resolves when the worker has been granted at least one claim of each kind of lock since this call. */
async function holdsEachKind(worker: WorkerProcess): Promise<void> {
  const requested = new Map<number, Kind>();
  const missing = new Set<Kind>(KINDS);
  const from = worker.events.length;
  let at = 0;
  const isAll = (event: ChaosEvent): boolean => {
    if (event.ev === 'enqueue') requested.set(event.n, kindOfClaim(event));
    if (at++ < from) return false;
    if (event.ev === 'acquired') missing.delete(requested.get(event.n)!);
    if (event.ev === 'downgraded') missing.delete('write lock turned into a read lock');
    return missing.size === 0;
  };
  await worker.until(isAll, { what: 'holds of every kind' });
}

async function allRevoked({ victim, held }: RecipesLine): Promise<void> {
  for (const { queue, n } of held)
    await victim.untilEvent('revoked', { queue, matches: (revoked) => revoked.n === n });
}

/** Ends the experiment. Resolves with the queues in which two conflicting holds were found. */
async function whereFound(experiment: Experiment): Promise<string[]> {
  const { findings } = await experiment.end();
  await rm(experiment.directory, { recursive: true, force: true });
  const found = findings.flatMap(({ rule, queue }) => (rule === 'S2' && queue !== undefined ? [queue] : []));
  return [...new Set(found)];
}

/**
 * Resolves with whether the sessions of all three workers survived the election of a new leader of the
 * servers. On a busy machine the election may take longer than a session lives without heartbeats. Then the
 * test checks only safety.
 */
async function survived({ victim, next, peer }: RecipesLine): Promise<boolean> {
  const after = BigInt(stampNow());
  const tells = (event: ChaosEvent): boolean =>
    event.ev === 'session-lost' || (event.ev === 'beat' && BigInt(event.sentAt) > after);
  const lives = async (worker: WorkerProcess): Promise<boolean> =>
    (await worker.until(tells, { what: 'its session' })).ev === 'beat';
  return (await Promise.all([victim, next, peer].map(lives))).every(Boolean);
}

function isOf(n: number, event: ChaosEvent, ...kinds: ChaosEvent['ev'][]): boolean {
  return 'n' in event && event.n === n && kinds.includes(event.ev);
}
