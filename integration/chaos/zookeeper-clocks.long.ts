import { expect } from 'chai';
import { zkFourLetter } from '@queuelock/harness/services';
import { until } from '@queuelock/harness/services/until';
import type { Cluster, Member } from '@queuelock/harness/clusters';
import { abandonTrials, startExperiment } from './experiment.ts';
import { findFakeTime, type WallClock } from './faketime.ts';
import { expectRight, oneByOne } from './runs.ts';
import { sharedCluster } from './shared-clusters.ts';
import type { WorkerProcess } from './worker-process.ts';
import { stampNow } from '@queuelock/harness/check/worker-record';

const HOUR_S = 3_600;

describe('ZooKeeper members with a wrong time of day', function () {
  this.timeout(600_000);
  const clocks = new Map<Member, WallClock>();
  let cluster: Cluster | undefined;

  before(async function () {
    const fakeTime = await findFakeTime(this);
    const found = (cluster = await sharedCluster('zookeeper', 'fast'));
    for (const member of found.members) {
      const clock = fakeTime.wallClock();
      clocks.set(member, clock);
      await member.kill();
      await member.start(lazily(clock.worker.env));
    }
    await found.ready();
  });
  afterEach(abandonTrials);
  after(async () => {
    for (const [member, clock] of clocks) {
      await member.kill();
      clock.remove();
    }
    await cluster?.recover();
  });

  it('keep all sessions and holds when leader and follower swap roles, with clocks an hour apart', () =>
    oneByOne(async () => {
      const experiment = await startExperiment({ store: 'zookeeper', workers: 4 });
      const [holder, next, ...loaded] = experiment.workers as [
        WorkerProcess,
        WorkerProcess,
        ...WorkerProcess[],
      ];
      const queue = experiment.queue('held');
      holder.tell({ do: 'hold', queue, effectEveryMs: 100 });
      await holder.untilEvent('acquired', { queue });
      next.tell({ do: 'hold', queue, effectEveryMs: 100 });
      await next.untilEvent('queued', { queue });
      const queues = [experiment.queue('busy')];
      for (const worker of loaded)
        worker.tell({ do: 'load', queues, holdMs: [0, 50], cancelShare: 0.05, abortShare: 0.02 });
      const { cluster } = experiment;
      const leader = await cluster.leader();
      const [follower] = cluster.others(leader) as [Member];
      for (const sign of [1, -1]) {
        const healed = await experiment.fault('time of day jumps', leader.node, async () => {
          clocks.get(leader)!.set(sign * HOUR_S);
          clocks.get(follower)!.set(-sign * HOUR_S);
        });
        await until(
          async () =>
            expect((await timeOf(leader)) / 1_000).to.be.closeTo(Date.now() / 1_000 + sign * HOUR_S, 60),
          { what: 'the leader is wrong about the time', withinMs: 10_000 },
        );
        await beatsFor(holder, 1.2 * experiment.timing.ttlMs);
        healed();
      }
      for (const clock of clocks.values()) clock.set(0);
      expect((await cluster.leader()).node).to.equal(leader.node);
      for (const { events } of [holder, next]) {
        const kinds = events.map(({ ev }) => ev);
        expect(kinds).to.include('beat').and.not.include('revoked').and.not.include('session-lost');
      }
      await expectRight(experiment);
    }));
});

/**
 * Returns the environment of a Java process with a fake clock. FAKETIME_CACHE_DURATION is set because Java
 * reads the time so often that libfaketime would use a whole core if it read its file each time.
 * FAKETIME_FORCE_MONOTONIC_FIX is off because it corrects a bug of the C library before 2.30, and with later
 * versions timed waits never end.
 */
function lazily({ FAKETIME_NO_CACHE: _, ...env }: Readonly<Record<string, string>>): Record<string, string> {
  return { ...env, FAKETIME_CACHE_DURATION: '1', FAKETIME_FORCE_MONOTONIC_FIX: '0' };
}

/** Returns the time of day of the ZooKeeper leader, which its response to the command `dump` contains. */
async function timeOf(leader: Member): Promise<number> {
  const read = async (): Promise<number> => {
    const dump = await zkFourLetter(leader.endpoint, 'dump');
    const [, end] = /expire at (.*):/.exec(dump) ?? [];
    if (end === undefined) throw new Error(`it says ${dump}`);
    return Date.parse(end);
  };
  return until(read, { what: 'the leader reports when sessions end', withinMs: 10_000 });
}

/**
 * Resolves at the first heartbeat of the worker that is confirmed at least `ms` milliseconds after this call.
 */
async function beatsFor(worker: WorkerProcess, ms: number): Promise<void> {
  const until = BigInt(stampNow()) + BigInt(Math.round(ms * 1e6));
  await worker.untilEvent('beat', { from: worker.events.length, matches: ({ t }) => BigInt(t) >= until });
}
