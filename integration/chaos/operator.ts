import type { Cluster } from '@queuelock/harness/clusters';
import { ZooKeeperWire } from '@queuelock/harness/clusters/zookeeper-wire';
import { base64, callEtcd } from '@queuelock/harness/services/etcd-gateway';
import type { RemovedEntry } from '@queuelock/harness/check/event';

const RESPONSE_WITHIN_MS = 5_000;

/**
 * Removes one entry as an operator does with the store's own tools. On etcd, a newer entry with the same key
 * is not removed.
 */
export async function removeEntry(
  { name, endpoints }: Pick<Cluster, 'name' | 'endpoints'>,
  { key, token }: RemovedEntry,
): Promise<void> {
  const [endpoint = ''] = endpoints;
  if (name === 'etcd') {
    const ofKey = { key: base64(key) };
    const isTheOne = { ...ofKey, target: 'CREATE', result: 'EQUAL', create_revision: token };
    await callOperator(endpoint, 'kv/txn', {
      compare: [isTheOne],
      success: [{ request_delete_range: ofKey }],
    });
    return;
  }
  await ZooKeeperWire.during(endpoint, (wire) => wire.delete(key));
}

/** Removes all keys below the given directories from etcd, in one transaction. */
export async function removeDirectories(
  { endpoints }: Cluster,
  directories: readonly string[],
): Promise<void> {
  const success = directories.map((directory) => ({ request_delete_range: rangeOf(directory) }));
  await callOperator(endpoints[0]!, 'kv/txn', { success });
}

/** Returns the keys below a directory in etcd. */
export async function keysBelow({ endpoints }: Cluster, directory: string): Promise<string[]> {
  const response = await callOperator(endpoints[0]!, 'kv/range', { ...rangeOf(directory), keys_only: true });
  const { kvs = [] } = response as { kvs?: { key: string }[] };
  return kvs.map(({ key }) => Buffer.from(key, 'base64').toString());
}

/** Sends one request to the JSON gateway of an etcd member. */
export function callOperator(endpoint: string, call: string, body: object): Promise<unknown> {
  const signal = AbortSignal.timeout(RESPONSE_WITHIN_MS);
  return callEtcd({ endpoint, call, agent: false, signal }, body);
}

// Returns the range of the etcd keys below a directory. It ends before `0`, the character after `/`.
function rangeOf(directory: string): { key: string; range_end: string } {
  return { key: base64(`${directory}/`), range_end: base64(`${directory}0`) };
}
