import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { Member } from '@queuelock/harness/clusters';
import { livedBetween } from '@queuelock/harness/lived-time';
import { abandonTrials, startExperiment, type Experiment } from './experiment.ts';
import { urlOf, type StoreName } from './profiles.ts';
import { expectRight, oneByOne } from './runs.ts';
import type { WorkerProcess } from './worker-process.ts';
import { stampNow } from '@queuelock/harness/check/worker-record';

// Time in milliseconds for which a member is cut off from the other members. It is longer than every relevant
// timeout of a client or a server. In long runs it is even longer.
const CUT_MS = Number(process.env['QUEUELOCK_CHAOS_CUT_MS'] ?? 12_000);
const AWAKE_WITHIN_MS = 10_000;

const CASES: readonly (readonly [store: StoreName, role: 'follower' | 'leader'])[] = [
  ['zookeeper', 'follower'],
  ['etcd', 'follower'],
  ['etcd', 'leader'],
];

for (const [store, role] of CASES) {
  describe(`the ${role} of ${store}, cut off from the other members`, function () {
    this.timeout(600_000);
    afterEach(abandonTrials);

    it('does not break exclusion, and notifies the waiters connected to it after the cut is healed', () =>
      oneByOne(async () => {
        const experiment = await startExperiment({ store });
        const member = await memberOf(experiment, role);
        const { waiter, holder, next, queue } = await lineUp(experiment, member);
        const cutAt = performance.now();
        const healed = await experiment.fault(`${role} cut off`, member.node, () =>
          member.cut({ from: 'members' }),
        );
        await next.untilEvent('acquired', { queue });
        next.tell({ do: 'release', queue });
        await holder.untilEvent('revoked', { queue });
        await pause(Math.max(0, cutAt + CUT_MS - performance.now()));
        await member.heal();
        healed();
        const healedAt = stampNow();
        const { t } = await waiter.untilEvent('acquired', { queue });
        expect(livedBetween(healedAt, t)).to.be.lessThan(AWAKE_WITHIN_MS);
        await experiment.cluster.ready();
        const { numbers } = await expectRight(experiment);
        expect(numbers.gaps.lost).to.have.lengthOf(1);
      }));
  });
}

async function memberOf({ cluster }: Experiment, role: 'follower' | 'leader'): Promise<Member> {
  const leader = await cluster.leader();
  return role === 'leader' ? leader : cluster.others(leader)[0]!;
}

interface Line {
  /** A worker that knows all members, and first connects to the member that a fault will cut off. */
  readonly waiter: WorkerProcess;
  /** A worker that knows only the member that a fault will cut off from the other members. */
  readonly holder: WorkerProcess;
  /**
   * A worker that knows only the members that stay connected to each other. It waits in the queue ahead of
   * the worker that knows all members.
   */
  readonly next: WorkerProcess;
  readonly queue: string;
}

async function lineUp(experiment: Experiment, member: Member): Promise<Line> {
  const { cluster, store } = experiment;
  const isMember = (_: string, index: number): boolean => cluster.members[index] === member;
  const isOther = (_: string, index: number): boolean => cluster.members[index] !== member;
  const [waiter, holder, next] = await Promise.all([
    experiment.addWorker(),
    experiment.addWorker({ url: (all) => urlOf(store, 'fast', all.filter(isMember)) }),
    experiment.addWorker({ url: (all) => urlOf(store, 'fast', all.filter(isOther)) }),
  ]);
  await beginOn(experiment, waiter, member);
  const queue = experiment.queue('line');
  holder.tell({ do: 'hold', queue });
  await holder.untilEvent('acquired', { queue });
  for (const worker of [next, waiter]) {
    worker.tell({ do: 'hold', queue });
    await worker.untilEvent('queued', { queue });
  }
  return { waiter, holder, next, queue };
}

/**
 * Makes the worker open its session on the given member, by cutting it off from all other members until the
 * session is open.
 */
async function beginOn(experiment: Experiment, worker: WorkerProcess, member: Member): Promise<void> {
  const others = experiment.cluster.others(member);
  const queue = experiment.queue('own');
  for (const other of others) await other.cut({ from: worker.place!, as: 'reset' });
  worker.tell({ do: 'hold', queue });
  await worker.untilEvent('acquired', { queue });
  for (const other of others) await other.heal();
}
