import { etcdMetrics, sumOf } from '@queuelock/harness/services';
import type { Metrics } from '@queuelock/harness/services/metrics';

/** Returns how many requests and streams the server received while `work` ran. */
export async function requestsOf(endpoint: string, work: () => Promise<unknown>): Promise<number> {
  const before = await started(endpoint);
  await work();
  return (await started(endpoint)) - before;
}

/** Returns how many transactions the server has handled so far. */
export async function handledTxns(endpoint: string): Promise<number> {
  return sumOf(await etcdMetrics(endpoint), 'grpc_server_handled_total', { grpc_method: 'Txn' });
}

/** Returns how many requests for keys the server has handled so far, by method. */
export async function keyRequests(endpoint: string): Promise<Record<string, number>> {
  return keyRequestsIn(await etcdMetrics(endpoint));
}

/** Extracts the numbers of handled requests for keys, by method, from the metrics of a server. */
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
