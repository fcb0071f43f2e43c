import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import { startZooKeeper } from '@queuelock/harness/services';
import type { ServiceOf } from '@queuelock/harness/services/service';
import type { ZooKeeperSettings } from '@queuelock/harness/services/zookeeper-process';
import type { Bench } from './bench.ts';

/** Starts a server for one test that stops or freezes it. It is stopped after the test. */
export async function ownServer(
  bench: Bench,
  settings: ZooKeeperSettings = {},
): Promise<ServiceOf['process']> {
  return bench.keep(await startZooKeeper({ way: 'process', settings }), (server) => server.stop());
}

export async function proxyTo(bench: Bench, endpoint: string): Promise<TcpProxy> {
  return bench.keep(await startProxy(endpoint), (proxy) => {
    proxy.refuse();
    proxy.cut();
  });
}
