import { etcdMetrics, sumOf } from '../../../integration/services.ts';

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

async function started(endpoint: string): Promise<number> {
  return sumOf(await etcdMetrics(endpoint), 'grpc_server_started_total');
}
