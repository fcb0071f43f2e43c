import { expect } from 'chai';
import type { Chance } from './chance.ts';
import { abandonTrials, startExperiment, type Experiment } from './experiment.ts';
import { MEMBER_FAULTS, STORE_FAULTS, WORKER_FAULTS, type Capabilities, type Item } from './faults-menu.ts';
import { perform } from './perform.ts';
import { STORES } from './profiles.ts';
import { expectRight } from './runs.ts';
import type { Fault } from './schedule.ts';
import type { Stage } from './fault-stage.ts';
import type { WorkerProcess } from './worker-process.ts';

const LASTS_MS = 60_000;
const FAULT_EVERY_MS = 3_000;
/**
 * Longest fault of a member in milliseconds. It is short, because a fault may affect only one member at a
 * time, which has to recover before the next fault.
 */
const LONGEST_OF_MEMBERS_MS = 2_000;
const LEAD_MS = 1_500;
const WORKERS = 5;
const LOAD = {
  do: 'load',
  holdMs: [0, 200],
  cancelShare: 0.05,
  abortShare: 0.02,
  effectShare: 0.3,
  parallel: 2,
} as const;
/**
 * Kinds of faults that the test of random faults leaves out: they exceed what the store can survive, or take
 * too long.
 */
const TOO_MUCH: ReadonlySet<string> = new Set(['majority lost', 'rolling restart', 'no space']);

for (const store of STORES) {
  describe(`random faults, on three members of ${store}`, function () {
    this.timeout(600_000);
    afterEach(abandonTrials);

    it('break neither exclusion nor order nor tokens in a minute of load with another fault every 3 s', async () => {
      const experiment = await startExperiment({ store, holdMs: LOAD.holdMs[1] });
      const queues = ['a', 'b', 'c'].map((name) => experiment.queue(name));
      const stage = await stageFor(experiment, queues);
      const faults = faultsFor(capabilitiesOf(experiment), experiment.chance);
      const begun: string[] = [];
      await perform({
        stage,
        faults,
        audience: { begins: ({ kind }) => begun.push(kind), ends: () => undefined },
        untilMs: LASTS_MS,
        signal: new AbortController().signal,
      });
      await experiment.cluster.recover();
      const { numbers } = await expectRight(experiment);
      expect(begun.length, 'faults').to.be.at.least(0.8 * faults.length);
      expect(numbers.holds).to.be.greaterThan(LASTS_MS / 1_000);
    });
  });
}

/**
 * Returns a list that alternates between a fault of a worker and a fault of a member or of the store. Each
 * kind of fault occurs once before any is repeated.
 */
function faultsFor(capabilities: Capabilities, chance: Chance): Fault[] {
  const ofWorkers = chance.shuffled(WORKER_FAULTS);
  const ofStore = chance
    .shuffled([...MEMBER_FAULTS, ...STORE_FAULTS])
    .filter(({ kind, isPossible = () => true }) => isPossible(capabilities) && !TOO_MUCH.has(kind));
  const count = Math.floor((LASTS_MS - 2 * LEAD_MS) / FAULT_EVERY_MS);
  return Array.from({ length: count }, (_, index): Fault => {
    const startMs = LEAD_MS + index * FAULT_EVERY_MS;
    const turn = Math.floor(index / 2);
    const items: readonly Item[] = index % 2 === 0 ? ofWorkers : ofStore;
    const item = items[turn % items.length]!;
    const isOfWorker = items === ofWorkers;
    const longestMs = Math.min(LASTS_MS - startMs - LEAD_MS, isOfWorker ? Infinity : LONGEST_OF_MEMBERS_MS);
    const durationMs = Math.min(longestMs, Math.round(durationOf(item, capabilities, chance)));
    const direction = item.directions?.[chance.wholeBelow(item.directions.length)];
    return {
      number: index + 1,
      kind: item.kind,
      startMs,
      durationMs,
      ...(isOfWorker ? { worker: turn % capabilities.workers } : {}),
      ...(isOfWorker && !item.ofOneMember ? {} : memberFor(item, capabilities, chance)),
      ...(direction ? { direction } : {}),
    };
  });
}

function memberFor(item: Item, { members }: Capabilities, chance: Chance): Pick<Fault, 'member'> {
  if (STORE_FAULTS.some(({ kind }) => kind === item.kind)) return {};
  return { member: item.ofLeader ? 'leader' : chance.wholeBelow(members) };
}

function durationOf({ lastsMs, lastsTtls }: Item, { ttlMs }: Capabilities, chance: Chance): number {
  const [least, most] = lastsMs ?? lastsTtls!.map((share) => share * ttlMs);
  return least + chance.below(most - least);
}

function capabilitiesOf({ store, cluster, timing }: Experiment): Capabilities {
  return {
    store,
    workers: WORKERS,
    members: cluster.members.length,
    operatedQueues: 0,
    ttlMs: timing.ttlMs,
    loss: !cluster.absent.has('loss'),
  };
}

/** Starts workers under load. A worker that a fault kills is replaced. */
async function stageFor(experiment: Experiment, queues: readonly string[]): Promise<Stage> {
  const places: WorkerProcess[] = [];
  const replace = async (place: number): Promise<void> => {
    const worker = await experiment.addWorker();
    worker.tell({ ...LOAD, queues });
    places[place] = worker;
  };
  await Promise.all(Array.from({ length: WORKERS }, (_, place) => replace(place)));
  return { experiment, cluster: experiment.cluster, operated: [], worker: (place) => places[place], replace };
}
