import { QueueLockError } from '@queuelock/core/backend';
import type { OwnEntry } from '../entry/entry.ts';
import { parseMarked } from '../queue/marks.ts';
import { isOwnNode } from '../queue/names.ts';
import type { SessionContext } from '../server/session-context.ts';

/**
 * Removes the entries of a resumed session that no call of this process has asked for. Over the npm package `zookeeper`, and on servers
 * before 3.6, it removes nothing: they cannot list a session's nodes.
 * @param root `''` or the chroot
 * @param claimed what this process has asked for
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

/** Rejects with `UNAVAILABLE`, so that it is tried again, while an entry in the same directory is being asked for. */
function isClaimed(node: string, claimed: ReadonlyMap<string, OwnEntry>): boolean {
  const directory = node.slice(0, node.lastIndexOf('/'));
  const number = parseMarked(node)?.digits;
  return [...claimed.values()].some(({ place, path, mayBeIn }) => {
    if (place.directory !== directory) return false;
    if (path === undefined && mayBeIn)
      throw new QueueLockError('UNAVAILABLE', `an entry in ${directory} is being claimed`);
    // A writer that turns into a reader has two nodes of one number.
    return path === node || (path !== undefined && parseMarked(path)?.digits === number);
  });
}
