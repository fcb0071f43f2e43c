import { etcd } from '@queuelock/etcd';
import { createLockClient } from '@queuelock/core';
import { expect } from 'chai';
import { etcdTransport } from '@queuelock/harness/services/etcd-transport';
import { EtcdOperator } from './etcd-operator.ts';
import { abandonTrials, startExperiment } from './experiment.ts';
import { TEST_TIMEOUT_MS, RUNS, expectRight, oneByOne } from './runs.ts';
import { holdNow, isHeld, leave, standIn } from './standing.ts';
import type { WorkerProcess } from './worker-process.ts';

const QUEUES = 5;
const WAITERS = 4;
const MAX_WAIT_MS = 1_000;

describe('etcd without storage space', function () {
  this.timeout(TEST_TIMEOUT_MS + RUNS * 30_000);
  afterEach(abandonTrials);

  it('keeps holders and grants waiters, and enqueues new clients only when it has space again', async () => {
    const experiment = await startExperiment({ store: 'etcd', workers: WAITERS + 2 });
    const [holder, newcomer, ...waiters] = experiment.workers as [
      WorkerProcess,
      WorkerProcess,
      ...WorkerProcess[],
    ];
    const operator = new EtcdOperator(experiment.cluster.endpoints[0]!);
    await oneByOne(async (run) => {
      const queues = Array.from({ length: QUEUES }, (_, i) => experiment.queue(`${run}-${i}`));
      const held = await Promise.all(queues.map((queue) => holdNow(holder, queue)));
      for (const waiter of waiters) await Promise.all(queues.map((queue) => standIn(waiter, queue)));
      const healed = await experiment.fault('no space', 'store', () => operator.outOfSpace(true));
      await Promise.all([holder, ...waiters].map((worker) => beatsFor(worker, experiment.timing.ttlMs)));
      expect(held.filter((entry) => isHeld(holder, entry))).to.have.length(QUEUES);
      await waitsInVain(experiment.cluster.endpoints, experiment.queue(`refused-${run}`));
      newcomer.tell({ do: 'hold', queue: queues[0]! });
      for (const entry of held) await leave(holder, entry);
      for (const waiter of waiters) await passOn(waiter, queues);
      await operator.outOfSpace(false);
      healed();
      await newcomer.untilEvent('acquired', { queue: queues[0]! });
      newcomer.tell({ do: 'release', queue: queues[0]! });
    });
    operator.close();
    await expectRight(experiment);
  });
});

/** Resolves when the worker `waiter` has been granted the lock of each queue and has released it at once. */
async function passOn(waiter: WorkerProcess, queues: readonly string[]): Promise<void> {
  await Promise.all(
    queues.map(async (queue) => {
      const { n } = await waiter.untilEvent('acquired', { queue });
      await leave(waiter, { queue, n });
    }),
  );
}

/**
 * Resolves at the first heartbeat of the worker that is confirmed at least `ms` milliseconds after this call.
 */
async function beatsFor(worker: WorkerProcess, ms: number): Promise<void> {
  const until = process.hrtime.bigint() + BigInt(ms) * 1_000_000n;
  const from = worker.events.length;
  await worker.untilEvent('beat', { from, matches: ({ t }) => BigInt(t) >= until });
}

/** Starts a separate client that waits for the queue, and expects that its wait ends with a timeout. */
async function waitsInVain(hosts: readonly string[], queue: string): Promise<void> {
  const client = createLockClient(etcd({ ...etcdTransport(), hosts }));
  const failure: unknown = await client
    .acquire(queue, { timeoutMs: MAX_WAIT_MS })
    .catch((error: unknown) => error);
  await client.close();
  expect(failure).to.have.property('code', 'UNAVAILABLE');
}
