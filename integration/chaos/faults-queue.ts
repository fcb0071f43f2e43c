import { setTimeout as pause } from 'node:timers/promises';
import type { Cluster } from '@queuelock/harness/clusters';
import { ZooKeeperWire } from '@queuelock/harness/clusters/zookeeper-wire';
import { within } from './deadline.ts';
import { base64 } from '@queuelock/harness/services/etcd-gateway';
import { isRefusal } from './effects-zookeeper.ts';
import type { RemovedEntry } from '@queuelock/harness/check/event';
import type { QueueKind } from './faults-menu.ts';
import { callOperator, removeEntry } from './operator.ts';

/**
 * The name of the store and the addresses of the members that an operator may use. For a request to a single
 * member it has one address.
 */
type Door = Pick<Cluster, 'name' | 'endpoints'>;
type LineOf = (door: Door, queue: string) => Promise<readonly RemovedEntry[]>;

interface KeyOfEtcd {
  readonly key: string;
  readonly create_revision: string;
}

const RESPONSE_WITHIN_MS = 1_000;
/** Time limit of a removal in milliseconds, longer than any fault. */
const REMOVED_WITHIN_MS = 60_000;
const AGAIN_AFTER_MS = 100;
const PLACE: Readonly<Record<QueueKind, number>> = { 'holder removed': 0, 'waiter removed': 1 };

/**
 * Returns the entry at this index of the queue, from the first member that responds. Returns `undefined` if
 * there is no such entry, or no member responds.
 */
export async function findInLine(
  { name, endpoints }: Cluster,
  queue: string,
  kind: QueueKind,
): Promise<RemovedEntry | undefined> {
  for (const endpoint of endpoints) {
    const door = { name, endpoints: [endpoint] };
    const lineOf: LineOf = name === 'etcd' ? keysOf : nodesOf;
    // Tries the next member if this one does not respond, because a fault may affect it.
    const line = await within(RESPONSE_WITHIN_MS, lineOf(door, queue)).catch(() => undefined);
    if (line) return line[PLACE[kind]];
  }
  return undefined;
}

/**
 * Resolves when a member has confirmed that the entry does not exist any more, whichever client removed it. A
 * request without a response may still be executed later, but it can remove only this entry. Rejects when no
 * member has confirmed within a minute.
 */
export async function removeForSure({ name, endpoints }: Door, entry: RemovedEntry): Promise<void> {
  const deadline = performance.now() + REMOVED_WITHIN_MS;
  let withoutResponse: unknown;
  while (performance.now() < deadline) {
    for (const endpoint of endpoints) {
      try {
        await within(RESPONSE_WITHIN_MS, removeEntry({ name, endpoints: [endpoint] }, entry));
        return;
      } catch (error) {
        if (isRefusal(error, 'noNode')) return;
        withoutResponse = error;
      }
    }
    await pause(AGAIN_AFTER_MS);
  }
  throw new Error(`no member removes ${entry.key} within ${REMOVED_WITHIN_MS} ms`, {
    cause: withoutResponse,
  });
}

/** Returns the entries of an etcd queue in order. */
async function keysOf({ endpoints }: Door, queue: string): Promise<RemovedEntry[]> {
  const order = { sort_target: 'CREATE', sort_order: 'ASCEND', keys_only: true };
  const range = { key: base64(`${queue}/`), range_end: base64(`${queue}0`), ...order };
  const { kvs = [] } = (await callOperator(endpoints[0]!, 'kv/range', range)) as { kvs?: KeyOfEtcd[] };
  return kvs.map(({ key, create_revision: token }) => ({
    key: Buffer.from(key, 'base64').toString(),
    token,
  }));
}

/**
 * Returns the entries of a ZooKeeper queue in order. The sequence number at the end of a node's name has ten
 * digits, and does not wrap within a run.
 */
async function nodesOf({ endpoints }: Door, queue: string): Promise<RemovedEntry[]> {
  try {
    const names = await ZooKeeperWire.during(endpoints[0]!, (wire) => wire.children(`/${queue}`));
    const line = names.sort((a, b) => a.slice(-10).localeCompare(b.slice(-10)));
    return line.map((name) => ({ key: `/${queue}/${name}` }));
  } catch (error) {
    if (isRefusal(error, 'noNode')) return [];
    throw error;
  }
}
