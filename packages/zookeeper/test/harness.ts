import type { BackendHarness } from '@queuelock/conformance';
import type { Naming } from '@queuelock/zookeeper';
import { sharedZooKeeper } from '../../../integration/services.ts';
import { SINGLE } from './bench.ts';
import { asOperator } from './operator.ts';
import { SeverableBackends } from './severed.ts';

async function endpoint(): Promise<string> {
  return (await sharedZooKeeper('conformance of @queuelock/zookeeper')).endpoint;
}

/** The server rounds up to the next tick and looks once in a tick; half a tick for a busy machine. */
const PUNCTUAL_MS = 2.5 * SINGLE.tickTimeMs;

/** Makes harnesses of the same server; defines the hooks of the suite that calls it. */
export function harnesses(): (naming: Naming) => BackendHarness {
  let backends: SeverableBackends;
  before(() => {
    backends = new SeverableBackends();
  });
  after(() => {
    backends.stop();
  });

  return (naming) => {
    const chroot = `/conformance-${naming}`;
    return {
      name: `ZooKeeper, one node, naming ${naming},`,
      ttlMs: 4 * SINGLE.tickTimeMs,
      expiryGranularityMs: PUNCTUAL_MS,
      connect: async () => backends.connect(await endpoint(), { chroot, naming, ...SINGLE }),
      crash: (session) => backends.crash(session),
      traces: true,
      together: true,
      sharing: true,
      eviction: true,
      registers: true,
      resumption: true,
      queues: true,
      evict: async (key) => {
        await asOperator(await endpoint(), (zk) => zk.delete(key));
      },
      entries: async (queue) =>
        (await asOperator(await endpoint(), (zk) => zk.children(`${chroot}/${queue}`))) ?? [],
    };
  };
}
