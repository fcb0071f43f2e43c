import { etcdMetrics, sumOf } from '@queuelock/harness/services';
import type { Metrics } from '@queuelock/harness/services/metrics';

/** How many requests and streams the server saw begin meanwhile. */
export async function requestsOf(endpoint: string, work: () => Promise<unknown>): Promise<number> {
  const before = await started(endpoint);
  await work();
  return (await started(endpoint)) - before;
}

/** How many transactions the server has answered so far. */
export async function handledTxns(endpoint: string): Promise<number> {
  return sumOf(await etcdMetrics(endpoint), 'grpc_server_handled_total', { grpc_method: 'Txn' });
}

/** The requests to the key space that the server has answered so far, by method. */
export async function keyRequests(endpoint: string): Promise<Record<string, number>> {
  return keyRequestsIn(await etcdMetrics(endpoint));
}

/** The same, as these metrics tell it. */
export function keyRequestsIn(metrics: Metrics): Record<string, number> {
  const methods = ['Range', 'Put', 'DeleteRange', 'Txn'];
  return Object.fromEntries(
    methods.map((method) => [
      method,
      sumOf(metrics, 'grpc_server_handled_total', { grpc_service: 'etcdserverpb.KV', grpc_method: method }),
    ]),
  );
}

async function started(endpoint: string): Promise<number> {
  return sumOf(await etcdMetrics(endpoint), 'grpc_server_started_total');
}
