import { describeBackend } from '@queuelock/conformance';
import { sharedZooKeeper } from '../../../integration/services.ts';
import { SINGLE } from './bench.ts';
import { asOperator } from './operator.ts';
import { SeverableBackends } from './severed.ts';

async function endpoint(): Promise<string> {
  return (await sharedZooKeeper('conformance of @queuelock/zookeeper')).endpoint;
}

describe('@queuelock/zookeeper', () => {
  let backends: SeverableBackends;
  before(() => {
    backends = new SeverableBackends();
  });
  after(() => {
    backends.stop();
  });

  describeBackend({
    name: 'ZooKeeper, one node,',
    ttlMs: 4 * SINGLE.tickTimeMs,
    // The server rounds up to the next tick and looks once in a tick; half a tick for a busy machine.
    expiryGranularityMs: 2.5 * SINGLE.tickTimeMs,
    connect: async () => backends.connect(await endpoint(), { chroot: '/conformance', ...SINGLE }),
    crash: (session) => backends.crash(session),
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
      (await asOperator(await endpoint(), (zk) => zk.children(`/conformance/${queue}`))) ?? [],
  });
});
