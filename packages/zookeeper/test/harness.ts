import type { BackendHarness } from '@queuelock/conformance';
import type { Naming, ZooKeeperOptions } from '@queuelock/zookeeper';
import { sharedZooKeeper } from '@queuelock/harness/services';
import { SINGLE } from './bench.ts';
import { asOperator } from './operator.ts';
import { SeverableBackends } from './severable-backends.ts';

async function endpoint(): Promise<string> {
  return (await sharedZooKeeper('conformance of @queuelock/zookeeper')).endpoint;
}

/**
 * The server removes the entries of an expired session within this time, in milliseconds. It rounds up to the next tick, and checks once
 * per tick. Half a tick more is for a busy machine.
 */
const PUNCTUAL_MS = 2.5 * SINGLE.tickTimeMs;

/** Returns a function that creates test harnesses for one server and transport. Registers mocha hooks in the calling suite. */
export function harnesses(
  transport: NonNullable<ZooKeeperOptions['transport']> = 'wire',
): (naming: Naming) => BackendHarness {
  let backends: SeverableBackends;
  before(() => {
    backends = new SeverableBackends();
  });
  after(() => {
    backends.stop();
  });

  return (naming) => {
    const way = transport === 'wire' ? '' : `transport ${transport}, `;
    const chroot = `/conformance-${transport}-${naming}`;
    return {
      name: `ZooKeeper, one node, ${way}naming ${naming},`,
      ttlMs: 4 * SINGLE.tickTimeMs,
      expiryGranularityMs: PUNCTUAL_MS,
      connect: async () => backends.connect(await endpoint(), { chroot, naming, transport, ...SINGLE }),
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
