import { QueueLockError } from '@queuelock/core/backend';
import type { OwnEntry } from '../entry/entry.ts';
import { parseMarked } from '../queue/marks.ts';
import { isOwnNode } from '../queue/names.ts';
import type { SessionContext } from '../server/session-context.ts';

/**
 * Removes the entries of a resumed session that this process has not claimed, that is, not enqueued again. Over the npm package
 * `zookeeper`, and on servers before 3.6, it removes nothing: they cannot list a session's nodes.
 * @param root `''` or the chroot
 * @param claimed the entries that this process has claimed
 */
export async function removeUnclaimed(
  { zk, removals }: Pick<SessionContext, 'zk' | 'removals'>,
  root: string,
  claimed: ReadonlyMap<string, OwnEntry>,
): Promise<void> {
  await zk.sync();
  const nodes = (await zk.ephemerals?.(`${root}/`)) ?? [];
  for (const path of nodes)
    if (!isOwnNode(root, path) && !isClaimed(path, claimed)) await removals.delete(path);
}

/**
 * Returns whether the node belongs to a claimed entry: one that this process has enqueued again. While such an enqueue in the same directory is in
 * flight, that may be unknown. Then throws `UNAVAILABLE`, so that the caller retries.
 */
function isClaimed(node: string, claimed: ReadonlyMap<string, OwnEntry>): boolean {
  const directory = node.slice(0, node.lastIndexOf('/'));
  const number = parseMarked(node)?.sequence;
  return [...claimed.values()].some(({ location, path, mayBeQueued }) => {
    if (location.directory !== directory) return false;
    if (path === undefined && mayBeQueued)
      throw new QueueLockError('UNAVAILABLE', `an entry in ${directory} is being claimed`);
    // A writer that is being converted to a reader has two nodes, which have the same number.
    return path === node || (path !== undefined && parseMarked(path)?.sequence === number);
  });
}
