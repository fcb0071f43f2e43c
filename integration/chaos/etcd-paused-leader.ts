import { setTimeout as pause } from 'node:timers/promises';
import type { Member } from '@queuelock/harness/clusters';
import { etcdUrl } from '@queuelock/harness/services/etcd-transport';
import { startExperiment, type Experiment } from './experiment.ts';
import { lineUp } from './standing.ts';
import type { Rule } from './worker-command.ts';
import type { WorkerProcess } from './worker-process.ts';

export interface PausedLeader {
  /** How many clients hold a queue each by way of the leader alone. */
  readonly holders: number;
  readonly rule: Rule;
  /**
   * When the leader hears that another one was chosen: as soon as it goes on, before or after it answers what it was asked
   * meanwhile, with no heartbeat after that; or only when it has answered all.
   */
  readonly news: 'at once' | 'late';
}

// Of the TTL.
const PAUSE_SHARE = 0.9;
const LAST_BEAT_MS = 60;
const ANSWERS_MS = 300;
// The leader takes a lease for dead that it has not heard of for a TTL: it answers nothing about it, and before 3.4.31 and 3.5.13
// it even ends it when it goes on (https://github.com/etcd-io/etcd/issues/15247).
const BEAT_EVERY_MS = 100;

/**
 * A leader that stands still while the others choose another one, and goes on: it answers heartbeats that it has no right to. Right
 * after that its clients are cut off from it, so that nothing but their heartbeats tells them how long they hold.
 */
export async function pauseLeader({ holders, rule, news }: PausedLeader): Promise<Experiment> {
  const experiment = await startExperiment({ store: 'etcd' });
  const { cluster, timing } = experiment;
  const leader = await cluster.leader();
  const next = await addClientOf(experiment, cluster.others(leader), {
    heartbeatIntervalMs: BEAT_EVERY_MS,
  });
  const workers = await Promise.all(
    Array.from({ length: holders }, () =>
      addClientOf(experiment, [leader], { rule, heartbeatIntervalMs: BEAT_EVERY_MS }),
    ),
  );
  const queues = await Promise.all(workers.map((worker) => lineUp(experiment, worker, next)));
  await Promise.all(workers.map((worker) => worker.untilEvent('beat', { from: worker.events.length })));
  const healed = await experiment.fault('leader paused', leader.node, () => leader.freeze());
  const untilTheEnd = remaining(PAUSE_SHARE * timing.ttlMs);
  if (news === 'late') await leader.cut({ from: 'members' });
  await cluster.leader({ otherThan: leader });
  await pause(untilTheEnd() - LAST_BEAT_MS);
  if (news === 'at once') for (const worker of workers) worker.tell({ do: 'beats', sent: false });
  await pause(untilTheEnd());
  await leader.thaw();
  await pause(ANSWERS_MS);
  for (const { place } of workers) await leader.cut({ from: place! });
  await Promise.all(queues.map((queue) => next.untilEvent('acquired', { queue })));
  await Promise.all(workers.map((worker) => worker.untilEvent('revoked')));
  await leader.heal();
  await cluster.ready();
  healed();
  return experiment;
}

function addClientOf(
  experiment: Experiment,
  members: readonly Member[],
  options: Parameters<Experiment['addWorker']>[0],
): Promise<WorkerProcess> {
  const isAmong = (_: string, at: number): boolean => members.includes(experiment.cluster.members[at]!);
  return experiment.addWorker({ ...options, url: (all) => etcdUrl(all.filter(isAmong).join(',')) });
}

/** What is left of so many milliseconds from now on. */
function remaining(ms: number): () => number {
  const deadline = performance.now() + ms;
  return () => Math.max(0, deadline - performance.now());
}
