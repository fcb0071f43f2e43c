import { expect } from 'chai';
import { ZooKeeperWire } from '@queuelock/harness/clusters/zookeeper-wire';
import { livedSince } from '@queuelock/harness/lived-time';
import { abandonTrials, startExperiment } from './experiment.ts';
import { RUNS, expectRight, oneByOne } from './runs.ts';
import type { WorkerProcess } from './worker-process.ts';

// Rate of the slow link in bytes per second. At this rate, reading a list of all children takes a tenth of a
// TTL.
const BYTES_PER_SECOND = 250_000;
const CHILDREN = 5_000;
const ROUNDS = 3;
// When the test makes only one repetition, it has fewer waiters, which take less time to join. The names of
// their queues are longer, so that the request which sets all watches again is as large.
const { queues: QUEUES, nameLength: NAME_LENGTH } =
  RUNS > 1 ? { queues: 120, nameLength: 50 } : { queues: 30, nameLength: 350 };
const WAITS_PER_QUEUE = 100;
const BATCH = 100;
// Largest size in bytes of a request that ZooKeeper accepts (`jute.maxbuffer`).
const ONE_REQUEST_BYTES = 1024 * 1024;
// Time limit in milliseconds for the grants. It is shorter than the interval of a waiter's regular reads, so
// a waiter granted in time was notified.
const SERVED_WITHIN_MS = 10_000;

describe('ZooKeeper with thousands of children or watches', function () {
  this.timeout(600_000);
  afterEach(abandonTrials);

  it('ends no session when a client reads a list of 5,000 children over a slow link', () =>
    oneByOne(async () => {
      const experiment = await startExperiment({ store: 'zookeeper', profile: 'default', workers: 3 });
      const { cluster, workers } = experiment;
      const queue = experiment.queue('big');
      const strangers = strangersIn(queue);
      await ZooKeeperWire.during(cluster.endpoints[0]!, async (wire) => {
        await wire.create(`/${queue}`, '');
        await Promise.all(strangers.map((path) => wire.create(path, '')));
      });
      const healed = await experiment.fault('slow links', 'network', () =>
        Promise.all(cluster.members.map((member) => member.slow({ bytesPerSecond: BYTES_PER_SECOND }))),
      );
      for (let round = 0; round < ROUNDS; round += 1) {
        await Promise.all(workers.map((worker) => holdOnce(worker, queue)));
      }
      await Promise.all(cluster.members.map((member) => member.heal()));
      healed();
      await ZooKeeperWire.during(cluster.endpoints[0]!, (wire) =>
        Promise.all(strangers.map((path) => wire.delete(path))),
      );
      for (const { events } of workers) expect(events.map(({ ev }) => ev)).to.not.include('session-lost');
      await expectRight(experiment);
    }));

  it('grants all waiters of a process after a connection reset, although their watches need several requests', () =>
    oneByOne(async () => {
      // Uses sessions with the default TTL, because thousands of entries keep a worker's process busy for
      // seconds.
      const experiment = await startExperiment({ store: 'zookeeper', profile: 'default', workers: 2 });
      const { cluster, workers } = experiment;
      const [holder, waiter] = workers as [WorkerProcess, WorkerProcess];
      const queues = Array.from({ length: QUEUES }, (_, number) =>
        experiment.queue(String(number).padStart(NAME_LENGTH, 'x')),
      );
      for (const queue of queues) holder.tell({ do: 'hold', queue });
      for (const queue of queues) await holder.untilEvent('acquired', { queue });
      const waits = queues.flatMap((queue) => Array.from({ length: WAITS_PER_QUEUE }, () => queue));
      for (let from = 0; from < waits.length; from += BATCH) {
        const at = waiter.events.length;
        for (const queue of waits.slice(from, from + BATCH)) waiter.tell({ do: 'hold', queue });
        let queued = 0;
        await waiter.until(({ ev }) => ev === 'queued' && (queued += 1) === BATCH, { from: at });
      }
      const keys = waiter.events.flatMap((event) => (event.ev === 'queued' ? [event.key] : []));
      expect(keys.join('').length).to.be.greaterThan(ONE_REQUEST_BYTES);
      const from = waiter.events.length;
      const healed = await experiment.fault('connections reset', waiter.id, async () => {
        for (const member of cluster.members) await member.cut({ from: waiter.place!, as: 'reset' });
      });
      for (const member of cluster.members) await member.heal();
      healed();
      const healedAt = performance.now();
      for (const queue of queues) holder.tell({ do: 'release', queue });
      for (const queue of queues) await waiter.untilEvent('acquired', { queue, from });
      expect(livedSince(healedAt)).to.be.lessThan(SERVED_WITHIN_MS);
      waiter.tell({ do: 'close' });
      await waiter.ended;
      expect(waiter.events.map(({ ev }) => ev)).to.not.include('session-lost');
      await expectRight(experiment);
    }));
});

async function holdOnce(worker: WorkerProcess, queue: string): Promise<void> {
  const from = worker.events.length;
  worker.tell({ do: 'hold', queue });
  await worker.untilEvent('acquired', { queue, from });
  worker.tell({ do: 'release', queue });
  await worker.untilEvent('left', { queue, from });
}

/** Returns paths of children with the names of another library, which queuelock does not count as entries. */
function strangersIn(queue: string): string[] {
  return Array.from({ length: CHILDREN }, (_, number) => {
    const suffix = String(number).padStart(10, '0');
    return `/${queue}/_c_01234567-89ab-cdef-0123-456789abcdef-other-${suffix}`;
  });
}
