import type { Cluster } from '../clusters.ts';
import { ZooKeeperWire } from '../clusters/zookeeper-wire.ts';
import { within } from './deadline.ts';
import { base64 } from '../services/etcd-gateway.ts';
import { isRefusal } from './effects-zookeeper.ts';
import type { QueueKind } from './faults-menu.ts';
import { callOperator, removeEntry } from './operator.ts';

/** The store by way of one member. */
type Door = Pick<Cluster, 'name' | 'endpoints'>;

const ANSWER_WITHIN_MS = 1_000;
const PLACE: Readonly<Record<QueueKind, number>> = { 'holder removed': 0, 'waiter removed': 1 };

/**
 * Finds who stands in this place of the line, through whichever member answers; answers with the way to remove it, or with
 * nothing if nobody stands there or no member answers.
 */
export async function findInLine(
  { name, endpoints }: Cluster,
  queue: string,
  kind: QueueKind,
): Promise<(() => Promise<void>) | undefined> {
  for (const endpoint of endpoints) {
    const door = { name, endpoints: [endpoint] };
    const lineOf = name === 'etcd' ? keysOf : nodesOf;
    // This member may be in trouble just now.
    const line = await within(ANSWER_WITHIN_MS, lineOf(door, queue)).catch(() => undefined);
    const key = line?.[PLACE[kind]];
    if (line) return key === undefined ? undefined : () => remove(door, key);
  }
  return undefined;
}

/** Whether it was removed nobody knows if there is no answer; nor if it had left by itself. */
async function remove(door: Door, key: string): Promise<void> {
  await within(ANSWER_WITHIN_MS, removeEntry(door, key)).catch(() => undefined);
}

/** In their order. */
async function keysOf({ endpoints }: Door, queue: string): Promise<string[]> {
  const order = { sort_target: 'CREATE', sort_order: 'ASCEND', keys_only: true };
  const range = { key: base64(`${queue}/`), range_end: base64(`${queue}0`), ...order };
  const { kvs = [] } = (await callOperator(endpoints[0]!, 'kv/range', range)) as { kvs?: { key: string }[] };
  return kvs.map(({ key }) => Buffer.from(key, 'base64').toString());
}

/** In their order: their sequence has ten digits, and does not wrap around in a run. */
async function nodesOf({ endpoints }: Door, queue: string): Promise<string[]> {
  const wire = await ZooKeeperWire.open(endpoints[0]!);
  try {
    const names = await wire.children(`/${queue}`);
    return names.sort((a, b) => a.slice(-10).localeCompare(b.slice(-10))).map((name) => `/${queue}/${name}`);
  } catch (error) {
    if (isRefusal(error, 'noNode')) return [];
    throw error;
  } finally {
    wire.close();
  }
}
