import { createLockClient, type Backend, type LockClient } from '@queuelock/core';
import { etcd } from '@queuelock/etcd';
import { zookeeper } from '@queuelock/zookeeper';
import { etcdMetrics, startEtcd, startZooKeeper, sumOf, zkFourLetter } from '@queuelock/harness/services';
import { createBridgeClient, type BridgeClient } from '../src/client.ts';
import { createBridge, serve, type Bridge, type Served } from '../src/index.ts';

/** A store that a test can restart. It also reports how many watches its clients have open. */
interface Store {
  readonly watches: () => Promise<number>;
  /**
   * Number of watches that the bridge has open in this store while one or more pages watch a queue. They
   * include the watches of the queue's evictions.
   */
  readonly watchesOfAQueue: number;
  readonly backend: () => Backend;
  readonly restart: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

async function etcdStore(): Promise<Store> {
  const server = await startEtcd({ way: 'process' });
  return {
    watches: async () => sumOf(await etcdMetrics(server.endpoint), 'etcd_debugging_mvcc_watcher_total'),
    watchesOfAQueue: 3,
    backend: () => etcd({ hosts: [server.endpoint] }),
    restart: () => server.restart(),
    stop: () => server.stop(),
  };
}

async function zooKeeperStore(): Promise<Store> {
  const server = await startZooKeeper({ way: 'process' });
  return {
    watches: async () =>
      Number(/watches:(\d+)/i.exec(await zkFourLetter(server.endpoint, 'wchs'))?.[1] ?? NaN),
    watchesOfAQueue: 2,
    backend: () => zookeeper({ hosts: [server.endpoint], tickTimeMs: 500 }),
    restart: () => server.restart(),
    stop: () => server.stop(),
  };
}

export const stores: readonly (readonly [name: string, start: () => Promise<Store>])[] = [
  ['etcd', etcdStore],
  ['zookeeper', zooKeeperStore],
];

/** The store and the page clients of a suite: one store for all tests, and a bridge for each test. */
interface Ground {
  readonly store: Store;
  /** Returns a new page client of the bridge, which is closed after the test. */
  readonly page: () => BridgeClient;
}

/** Registers the mocha hooks that start the store and the bridge. Call it in the body of a `describe`. */
export function layGround(start: () => Promise<Store>): Ground {
  let store: Store;
  let client: LockClient;
  let bridge: Bridge;
  let served: Served;
  let pages: BridgeClient[];
  const page = (): BridgeClient => {
    const made = createBridgeClient({ url: served.url + bridge.basePath });
    pages.push(made);
    return made;
  };

  before(async () => {
    store = await start();
  });
  after(() => store.stop());
  beforeEach(async () => {
    pages = [];
    client = createLockClient(store.backend(), { owner: 'bridge' });
    bridge = createBridge({ client, authorize: () => true });
    served = await serve({ handle: bridge.handle });
  });
  afterEach(async () => {
    for (const made of pages) made.close();
    await bridge.close();
    await served.close();
    await client.close();
  });

  return {
    get store() {
      return store;
    },
    page,
  };
}
