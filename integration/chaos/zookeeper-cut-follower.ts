import { setTimeout as pause } from 'node:timers/promises';
import type { Member } from '@queuelock/harness/clusters';
import { startExperiment, type Experiment } from './experiment.ts';
import { ZOOKEEPER_TIMING } from './profiles.ts';
import { lineUp } from './standing.ts';
import type { Rule } from './worker-command.ts';
import { nowMs, observePings } from './zookeeper-pings.ts';

const { tickMs } = ZOOKEEPER_TIMING.default;
const LEAST_TTL_MS = 4_000;
// Two times in milliseconds, as short as this machine permits. A heartbeat is sent `AFTER_PING_MS` after a
// ping of the leader. The follower is cut off from the leader `BEFORE_PING_MS` before the next ping.
const AFTER_PING_MS = 40;
const BEFORE_PING_MS = 100;
const PREPARATION_MS = 100;

/**
 * A holder: its rule about how long it still holds, and its heartbeat interval, which is a quarter of the TTL
 * by default.
 */
export interface Holder {
  readonly rule: Rule;
  readonly heartbeatIntervalMs?: number;
}

/**
 * Starts holders whose sessions are on a follower, and cuts the follower off from its leader shortly before a
 * ping. So the leader never learns of the last heartbeats, which the follower has acknowledged. The TTL and
 * the time of the cut are the worst case: if the leader knew these heartbeats, it would round the end of the
 * sessions up to the next tick. The servers have their default settings. The sessions are two ticks long,
 * which the backend accepts only because its URL claims other settings.
 */
export async function cutFollowerOf(holders: readonly Holder[]): Promise<Experiment> {
  const experiment = await startExperiment({ store: 'zookeeper', profile: 'default' });
  const { cluster } = experiment;
  const leader = await cluster.leader();
  const [follower] = cluster.others(leader) as [Member];
  const pings = await observePings(leader, follower, tickMs);
  const ttlMs = pings.trickyTtl(LEAST_TTL_MS, AFTER_PING_MS);
  const isFollower = (_: string, index: number): boolean => cluster.members[index] === follower;
  const isOther = (_: string, index: number): boolean => cluster.members[index] !== follower;
  const workers = await Promise.all(
    holders.map((holder) =>
      experiment.addWorker({ ...holder, ttlMs, url: (all) => boldUrl(all.filter(isFollower)) }),
    ),
  );
  const next = await experiment.addWorker({ url: (all) => boldUrl(all.filter(isOther)) });
  const queues = await Promise.all(workers.map((worker) => lineUp(experiment, worker, next)));
  // Waits for a heartbeat of each worker, because the first one opens the connection for heartbeats. On a
  // follower that is cut off, a connection cannot be opened.
  await Promise.all(workers.map((worker) => worker.untilEvent('beat', { from: worker.events.length })));
  const pingAt = pings.trap(ttlMs, AFTER_PING_MS, PREPARATION_MS);
  await pause(pingAt + tickMs / 2 - BEFORE_PING_MS - nowMs());
  const healed = await experiment.fault('follower cut off', follower.node, () =>
    follower.cut({ from: 'members' }),
  );
  await Promise.all(queues.map((queue) => next.untilEvent('acquired', { queue })));
  await Promise.all(workers.map((worker) => worker.untilEvent('revoked')));
  await follower.heal();
  await cluster.ready();
  healed();
  return experiment;
}

/**
 * Returns a URL that claims shorter ticks than the servers have, so that the backend accepts sessions of two
 * real ticks.
 */
function boldUrl(endpoints: readonly string[]): string {
  return `zk://${endpoints.join(',')}?tickTimeMs=${LEAST_TTL_MS / 4}&syncLimit=2`;
}
