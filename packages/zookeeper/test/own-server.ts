import { startProxy, type TcpProxy } from '../../../integration/faults.ts';
import { startZooKeeper } from '../../../integration/services.ts';
import type { ServiceOf } from '../../../integration/services/service.ts';
import type { ZooKeeperSettings } from '../../../integration/services/zookeeper-process.ts';
import type { Bench } from './bench.ts';

/** A server that the test may do something to. */
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
