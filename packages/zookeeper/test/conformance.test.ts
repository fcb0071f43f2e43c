import { describeBackend, facts, type BackendHarness } from '@queuelock/conformance';
import { isQueueLockError } from '@queuelock/core/backend';
import type { Naming } from '@queuelock/zookeeper';
import { sharedZooKeeper } from '../../../integration/services.ts';
import { SINGLE } from './bench.ts';
import { asOperator } from './operator.ts';
import { SeverableBackends } from './severed.ts';

async function endpoint(): Promise<string> {
  return (await sharedZooKeeper('conformance of @queuelock/zookeeper')).endpoint;
}

function harnessOf(naming: Naming, backends: () => SeverableBackends): BackendHarness {
  const chroot = `/conformance-${naming}`;
  return {
    name: `ZooKeeper, one node, naming ${naming},`,
    ttlMs: 4 * SINGLE.tickTimeMs,
    // The server rounds up to the next tick and looks once in a tick; half a tick for a busy machine.
    expiryGranularityMs: 2.5 * SINGLE.tickTimeMs,
    connect: async () => backends().connect(await endpoint(), { chroot, naming, ...SINGLE }),
    crash: (session) => backends().crash(session),
    traces: true,
    together: true,
    sharing: true,
    eviction: true,
    registers: true,
    resumption: true,
    evict: async (key) => {
      await asOperator(await endpoint(), (zk) => zk.delete(key));
    },
    entries: async (queue) =>
      (await asOperator(await endpoint(), (zk) => zk.children(`${chroot}/${queue}`))) ?? [],
  };
}

const EVERY_CHILD = 'every child of a directory of leases is a lease, also that of a nested queue';

/** Facts that leases contradict without refusing anything. */
const NOT_OF_LEASES: ReadonlyMap<string, string> = new Map([
  ['names that nest are separate queues', EVERY_CHILD],
  ['names with dots are separate queues', EVERY_CHILD],
  [
    'a placement behind an entry of another limit tells that limit',
    'of a lease that says no limit it is not known',
  ],
]);

const LANES = 4;

/**
 * All facts: each is true, or the naming refuses what it begins with, and says so. Several are checked at a time: most of the time they
 * wait for a server that has little to do.
 */
function describeWhatApplies(harness: BackendHarness, naming: Naming): void {
  describe(`${harness.name} keeps every fact that it does not refuse`, function () {
    this.timeout(120_000);
    const asked = facts.filter(({ title }) => naming !== 'curator-lease' || !NOT_OF_LEASES.has(title));
    const failures = new Map<string, Promise<Error | undefined>>();
    before(() => {
      const lanes = Array.from({ length: LANES }, () => Promise.resolve());
      asked.forEach((fact, place) => {
        const before = lanes[place % LANES]!;
        const failure = before.then(() => fact.check(harness)).then(none, errorOf);
        lanes[place % LANES] = failure.then(none);
        failures.set(fact.title, failure);
      });
    });
    for (const { title } of asked) {
      it(title, async () => {
        const failure = await failures.get(title);
        if (failure !== undefined && !isRefusal(failure, naming)) throw failure;
      });
    }
  });
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

function none(): undefined {
  return undefined;
}

function isRefusal(error: unknown, naming: Naming): boolean {
  return isQueueLockError(error, 'INVALID_ARGUMENT') && error.message.includes(`with naming ${naming}`);
}

describe('@queuelock/zookeeper', () => {
  let backends: SeverableBackends;
  before(() => {
    backends = new SeverableBackends();
  });
  after(() => {
    backends.stop();
  });

  describeBackend(harnessOf('curator', () => backends));
  for (const naming of [
    'curator-read-write',
    'kazoo',
    'curator+kazoo',
    'curator-latch',
    'curator-lease',
  ] as const) {
    describeWhatApplies(
      harnessOf(naming, () => backends),
      naming,
    );
  }
});
