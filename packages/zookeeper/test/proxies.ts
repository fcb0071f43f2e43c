// The child process of far-proxy.ts. It runs proxies, which the messages of the test control.
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import type { ProxyReply, ProxyOrder } from './far-proxy.ts';

const proxies = new Map<string, TcpProxy>();

async function obey({ order, endpoint }: ProxyOrder): Promise<string> {
  if (order === 'start') {
    const proxy = await startProxy(endpoint);
    proxies.set(proxy.endpoint, proxy);
    return proxy.endpoint;
  }
  const proxy = proxies.get(endpoint)!;
  if (order === 'accept') await proxy.accept();
  else {
    proxy.refuse();
    proxy.cut();
  }
  return endpoint;
}

process.on('message', (message) => {
  const { id, ...order } = message as ProxyOrder & { readonly id: number };
  void obey(order).then((endpoint) => process.send!({ id, endpoint } satisfies ProxyReply));
});
process.on('disconnect', () => process.exit());
