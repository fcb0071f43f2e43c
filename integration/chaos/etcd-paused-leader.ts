import { setTimeout as pause } from 'node:timers/promises';
import type { Member } from '@queuelock/harness/clusters';
import { etcdUrl } from '@queuelock/harness/services/etcd-transport';
import { startExperiment, type Experiment } from './experiment.ts';
import { lineUp } from './standing.ts';
import type { Rule } from './worker-command.ts';
import type { WorkerProcess } from './worker-process.ts';

export interface PausedLeader {
  /** Number of clients that know no other etcd member than the leader. Each of them holds a queue. */
  readonly holders: number;
  readonly rule: Rule;
  /**
   * When the paused leader learns that the cluster elected another leader. `at once`: when it resumes, before
   * any later heartbeat. `late`: only after it has responded to all requests that were pending.
   */
  readonly news: 'at once' | 'late';
}

// Duration of the pause of the etcd leader, as a fraction of the TTL.
const PAUSE_SHARE = 0.9;
const LAST_BEAT_MS = 60;
const RESPONSES_MS = 300;
// Interval of heartbeats in milliseconds. It is much shorter than the TTL, because a paused leader must still
// renew leases when it resumes. An etcd leader ignores keepalives for a lease that got none for a TTL. Before
// 3.4.31 and 3.5.13 it even revokes such a lease (https://github.com/etcd-io/etcd/issues/15247).
const BEAT_EVERY_MS = 100;

/**
 * Pauses a leader until the other members have elected a new one, and resumes it. The old leader then wrongly
 * responds to pending heartbeats. Directly afterwards its clients are cut off, so no later response shows
 * them that they have lost their locks.
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
  await pause(RESPONSES_MS);
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

/** Starts a countdown of `ms` milliseconds. Returns a function that returns how many milliseconds are left. */
function remaining(ms: number): () => number {
  const deadline = performance.now() + ms;
  return () => Math.max(0, deadline - performance.now());
}
