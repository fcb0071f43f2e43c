import { isQueueLockError, type PastChange, type StoredHistory } from '@queuelock/core/backend';
import type { ZkDriver } from '../driver/driver.ts';
import { orderOf, entriesIn, type Contender } from '../queue/entries.ts';
import { valueIn } from '../queue/node-text.ts';
import type { QueueLocation } from '../queue/queue-location.ts';

/**
 * Returns the present entries, each with the transaction that created its node, and the number of past entries. ZooKeeper keeps no other
 * history.
 */
export async function historyOf(zk: ZkDriver, location: QueueLocation): Promise<StoredHistory> {
  const { directory, scheme } = location;
  await zk.sync();
  const [children = [], stat] = await Promise.all([zk.children(directory), zk.stat(directory)]);
  const contenders = entriesIn(children, scheme);
  const joins = await Promise.all(contenders.map((contender) => joinOf(zk, location, contender)));
  const changes = joins.filter((join) => join !== undefined);
  return {
    before: [],
    changes: changes.sort((a, b) => Number(a.revision - b.revision)),
    gaps: [gapOf({ children: children.length, changes: stat?.childChanges })],
  };
}

async function joinOf(
  zk: ZkDriver,
  { directory, scheme }: QueueLocation,
  { name, sequence, shared }: Contender,
): Promise<PastChange | undefined> {
  const key = `${directory}/${name}`;
  const node = await nodeAt(zk, key);
  if (!node) return undefined;
  const entry = { key, order: orderOf(sequence), shared, value: valueIn(node.text, scheme) };
  return { revision: node.czxid, kind: 'joined', entry };
}

async function nodeAt(
  zk: ZkDriver,
  path: string,
): Promise<{ readonly czxid: bigint; readonly text: string } | undefined> {
  try {
    return await zk.read(path);
  } catch (error) {
    if (!isQueueLockError(error, 'ACCESS_DENIED')) throw error;
    const stat = await zk.stat(path);
    return stat && { czxid: stat.czxid, text: '' };
  }
}

/**
 * Returns a message for users. It states that ZooKeeper keeps no history, and how many entries have left the
 * queue. The server's count of changes includes each child twice: when it is created and when it is deleted.
 */
function gapOf({
  children,
  changes,
}: {
  readonly children: number;
  readonly changes: number | undefined;
}): string {
  const kept = 'ZooKeeper keeps no history: these are the entries in the queue now';
  if (changes === undefined) return `${kept}; the queue has no directory, so it had no entries recently.`;
  const left = Math.round((changes - children) / 2);
  return `${kept}; ${left} more have left since its directory was created, and nothing else is known about them.`;
}
