import type { Backend } from '@queuelock/core';
import { consul } from '@queuelock/consul';
import { etcd } from '@queuelock/etcd';
import { zookeeper } from '@queuelock/zookeeper';
import { startConsul, startEtcd, startZooKeeper } from '@queuelock/harness/services';
import type { ProcessService } from '@queuelock/harness/services/service';

/** A store that the pages in these tests show. */
export interface Store {
  readonly start: () => Promise<ProcessService>;
  /** Returns the URL for the command. */
  readonly url: (server: ProcessService) => string;
  /** Returns the backend for other programs. */
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
    // `minTtlMs` is less than Consul's 10 s, which the servers of the tests accept, so that sessions of ended
    // processes end within a test.
    url: ({ endpoint }) => `consul://${endpoint}?minTtlMs=100`,
    backend: ({ endpoint }) => consul({ hosts: [endpoint], minTtlMs: 100 }),
  },
} as const satisfies Record<string, Store>;
