import { createLockClient, type LockClient, type LockClientOptions } from '@queuelock/core';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import { endScripts } from '@queuelock/harness/services/script-process';
import type { OwnSite, Store } from './store.ts';

/** The server, the proxy and the clients that a test of faults uses. */
export interface Ground {
  readonly site: OwnSite;
  /** Proxy in front of the server. */
  readonly proxy: TcpProxy;
  /** Opens a lock client with a direct connection to the server. The client is closed after the test. */
  readonly connect: (options?: LockClientOptions) => LockClient;
  readonly connectThroughProxy: (options?: LockClientOptions) => LockClient;
}

/**
 * Registers hooks that start a server for the suite, and a proxy in front of it for each test. They close the
 * proxy and all clients after the test.
 */
export function layGround(store: Store, suite: string): Ground {
  let site: OwnSite;
  let proxy: TcpProxy;
  const clients: LockClient[] = [];

  const open = (endpoint: string, options: LockClientOptions): LockClient => {
    const client = createLockClient(site.backend(endpoint), options);
    clients.push(client);
    return client;
  };

  before(async () => {
    site = await store.start(suite);
  });

  beforeEach(async () => {
    proxy = await startProxy(site.endpoint);
  });

  afterEach(async () => {
    await endScripts();
    // Stops the proxy before the clients, because closing ZooKeeper's client blocks until a connection has
    // received all its responses.
    await proxy.stop();
    await Promise.all(clients.splice(0).map((client) => client.close()));
  });

  after(async () => {
    await site.server.stop();
  });

  return {
    get site() {
      return site;
    },
    get proxy() {
      return proxy;
    },
    connect: (options = {}) => open(site.endpoint, options),
    connectThroughProxy: (options = {}) => open(proxy.endpoint, options),
  };
}
