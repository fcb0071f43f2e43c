import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { createLockClient } from '@queuelock/core';
import type { OpenRenewer } from '@queuelock/core/backend';
import { etcd } from '@queuelock/etcd';
import { memoryMaxima } from '@queuelock/fencing';
import { startEtcdCluster, type Cluster } from '@queuelock/harness/clusters';
import { etcdTransport } from '@queuelock/harness/services/etcd-transport';
import { until } from '@queuelock/harness/services/until';
import { lost, newSpec, signal } from '@queuelock/harness/specs';
import { EtcdOperator } from './etcd-operator.ts';
import { backUp, restore } from './etcd-restore.ts';
import { abandonTrials } from './experiment.ts';
import { experimentOn } from './own-cluster.ts';
import { TEST_TIMEOUT_MS, RUNS, expectRight, oneByOne } from './runs.ts';
import { holdNow, standIn } from './standing.ts';
import type { WorkerProcess } from './worker-process.ts';

const EFFECT_EVERY_MS = 100;
// Number of writes between the backup and the restore.
const LATER = 50;
// Time in milliseconds during which etcd refuses the waiter's enqueues. The waiter makes many attempts in
// that time.
const REFUSED_MS = 2_000;
// TTL in milliseconds of a session that survives the restore of the cluster.
const THREAD_TTL_MS = 60_000;

describe('an etcd cluster that is restored from a backup', function () {
  this.timeout(TEST_TIMEOUT_MS + RUNS * 60_000);
  let cluster: Cluster;
  let operator: EtcdOperator;

  before(async () => {
    cluster = await startEtcdCluster();
    operator = new EtcdOperator(cluster.endpoints[0]!);
  });
  afterEach(abandonTrials);
  after(async () => {
    operator.close();
    await cluster.stop();
  });

  it('grants nothing to clients that have seen a newer revision, until its own revision has caught up', () =>
    oneByOne(async () => {
      const experiment = await experimentOn(cluster, 2);
      const [holder, waiter] = experiment.workers as [WorkerProcess, WorkerProcess];
      const queue = experiment.queue('a');
      const backup = await backUp(cluster);
      await write(LATER);
      const { token } = await holdNow(holder, queue, EFFECT_EVERY_MS);
      await standIn(waiter, queue);
      const known = await operator.revision();
      const healed = await experiment.fault('restored', 'store', () => restore(cluster, backup));
      healed();
      await Promise.all([holder.untilEvent('revoked'), waiter.untilEvent('failed')]);
      expect((await operator.revision()) < known).to.equal(true);
      const from = waiter.events.length;
      waiter.tell({ do: 'hold', queue, effectEveryMs: EFFECT_EVERY_MS });
      // The waiter opens a session. Then etcd refuses its enqueue repeatedly, because the waiter has seen a
      // newer revision.
      await waiter.untilEvent('beat', { from });
      await pause(REFUSED_MS);
      expect(waiter.events.slice(from).map(({ ev }) => ev)).to.not.include('queued');
      while ((await operator.revision()) <= known) await write(LATER);
      const next = await waiter.untilEvent('acquired', { queue, from });
      expect(BigInt(next.token) > BigInt(token)).to.equal(true);
      await expectRight(experiment);
    }));

  it('grants smaller tokens than before, which a fenced resource accepts once the operator has raised the epoch', async () => {
    const backup = await backUp(cluster);
    await write(LATER);
    const before = await tokenOf('restored');
    await restore(cluster, backup);
    const after = await tokenOf('restored');
    expect(after < before).to.equal(true);
    const maxima = memoryMaxima();
    await maxima.raise('resource', { epoch: 0, token: before });
    expect(await maxima.raise('resource', { epoch: 0, token: after })).to.include({ token: before });
    expect(await maxima.raise('resource', { epoch: 1, token: after })).to.include({ token: after });
    expect(await maxima.raise('resource', { epoch: 0, token: before })).to.include({ token: after });
  });

  it('confirms no heartbeat of a thread that has seen a newer revision, until its own revision has caught up', async () => {
    const backend = etcd({ ...etcdTransport(), hosts: cluster.endpoints });
    const session = await backend.open(THREAD_TTL_MS, signal);
    const source = (await backend.renewers!.loadSources())(session);
    const { openRenewer } = (await import(source.module)) as { readonly openRenewer: OpenRenewer };
    const thread = await openRenewer(source);
    // The backup contains the lease of the session, but not its entry.
    const backup = await backUp(cluster);
    await write(LATER);
    const placement = await session.enqueue(newSpec());
    const loss = lost(placement);
    expect(await thread.renew(signal, 0)).to.be.above(0);
    const known = await operator.revision();
    await restore(cluster, backup);
    const outcomes: unknown[] = [];
    await until(
      async () => {
        outcomes.push(await thread.renew(signal, 0).catch(String));
        expect(outcomes.at(-1)).to.include('UNAVAILABLE').and.include('etcd went back from revision');
      },
      { what: 'a member refuses the heartbeat', withinMs: THREAD_TTL_MS },
    );
    expect(outcomes.filter((outcome) => typeof outcome === 'number')).to.deep.equal([]);
    while ((await operator.revision()) <= known) await write(LATER);
    // The thread reads no entries, so it cannot find that the entry is missing. The next heartbeat of the main thread finds that.
    expect(await thread.renew(signal, 0)).to.be.above(0);
    await session.renew(signal).catch(() => undefined);
    expect(await loss).to.equal('ENTRY_LOST');
    await Promise.all([thread.close(), session.close()]);
    await backend.close();
  });

  /** Makes `puts` writes, each of which increases the revision of the etcd cluster by one. */
  async function write(puts: number): Promise<void> {
    for (let put = 0; put < puts; put += 1) await operator.put('written', String(put));
  }

  /** Returns the fencing token of a new client that acquires the lock. */
  async function tokenOf(queue: string): Promise<bigint> {
    const client = createLockClient(etcd({ ...etcdTransport(), hosts: cluster.endpoints }));
    const { token } = await client.acquire(queue);
    await client.close();
    return token;
  }
});
