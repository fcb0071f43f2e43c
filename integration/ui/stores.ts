import type { Backend } from '@queuelock/core';
import { consul } from '@queuelock/consul';
import { etcd } from '@queuelock/etcd';
import { zookeeper } from '@queuelock/zookeeper';
import { startConsul, startEtcd, startZooKeeper } from '@queuelock/harness/services';
import type { ProcessService } from '@queuelock/harness/services/service';

/** A store that the pages in these tests show. */
export interface Store {
  readonly start: () => Promise<ProcessService>;
  /** Returns the URL of the store for the command `queuelock ui`. */
  readonly url: (server: ProcessService) => string;
  /** Returns a backend for lock clients of other programs than `queuelock ui`. */
  readonly backend: (server: ProcessService) => Backend;
}

// Tick in milliseconds, which must equal the tick of the servers in the tests.
const tickTimeMs = 500;

export const STORES = {
  etcd: {
    start: () => startEtcd({ way: 'process' }),
    url: ({ endpoint }) => `etcd://${endpoint}`,
    backend: ({ endpoint }) => etcd({ hosts: [endpoint] }),
  },
  zookeeper: {
    start: () => startZooKeeper({ way: 'process' }),
    url: ({ endpoint }) => `zk://${endpoint}?tickTimeMs=${String(tickTimeMs)}`,
    backend: ({ endpoint }) => zookeeper({ hosts: [endpoint], tickTimeMs }),
  },
  consul: {
    start: () => startConsul({ way: 'process' }),
    // Allows sessions shorter than 10 s, the minimum TTL of Consul by default. The servers of the tests
    // permit them. So sessions of dead processes expire within a test.
    url: ({ endpoint }) => `consul://${endpoint}?minTtlMs=100`,
    backend: ({ endpoint }) => consul({ hosts: [endpoint], minTtlMs: 100 }),
  },
} as const satisfies Record<string, Store>;
