import { isQueueLockError } from '@queuelock/core/backend';
import type { ZkDriver } from '../driver/driver.ts';
import { entriesIn, type Contender } from '../queue/entries.ts';
import { parseMarked } from '../queue/marks.ts';
import { PRIVATE_DIRECTORY, queuePath } from '../queue/names.ts';
import type { QueueLocations } from '../queue/queue-location.ts';

/** A directory of the tree that contains entries, and the name of its queue. */
export interface WalkedQueue {
  readonly name: string;
  readonly directory: string;
  readonly children: readonly string[];
  /** The entries of the queue, in order. */
  readonly contenders: readonly Contender[];
}

interface VisitedDirectory {
  readonly directory: string;
  readonly name: string | undefined;
}

// Maximum number of lists in flight. It is high enough to hide the round trips, and low enough to leave the
// server time for other clients.
const MAX_IN_FLIGHT = 100;

/**
 * Walks through the tree below the chroot and returns the directories with entries whose names begin with a text. Nodes that must not be
 * read are skipped. It sends one list for each node that is not an entry. The result is not a snapshot of one moment, since the tree
 * changes meanwhile.
 */
export async function walk(
  zk: ZkDriver,
  { root, schemeFor }: QueueLocations,
  beginning: string,
): Promise<readonly WalkedQueue[]> {
  const found: WalkedQueue[] = [];
  const start = startOf(root, beginning);
  const ahead = [{ directory: start, name: nameOf(root, start) }];
  const visit = async ({ directory, name }: VisitedDirectory): Promise<void> => {
    const children = (await childrenOf(zk, directory)) ?? [];
    const others = children.filter((child) => !isEntry(child));
    if (name?.startsWith(beginning) === true && others.length < children.length) {
      const contenders = entriesIn(children, schemeFor(name));
      if (contenders.length > 0) found.push({ name, directory, children, contenders });
    }
    for (const child of others) {
      const below = { directory: `${directory}/${child}`, name: nameBelow(root, { directory, name }, child) };
      if (leadsTo(below.name, beginning)) ahead.push(below);
    }
  };
  // Visits the tree level by level, with up to 100 requests in flight.
  while (ahead.length > 0) {
    const level = ahead.splice(0);
    const visitNext = async (): Promise<void> => {
      for (let next = level.pop(); next !== undefined; next = level.pop()) await visit(next);
    };
    await Promise.all(Array.from({ length: MAX_IN_FLIGHT }, visitNext));
  }
  return found;
}

async function childrenOf(zk: ZkDriver, directory: string): Promise<readonly string[] | undefined> {
  try {
    return await zk.children(directory === '' ? '/' : directory);
  } catch (error) {
    if (isQueueLockError(error, 'ACCESS_DENIED')) return undefined;
    throw error;
  }
}

function isEntry(child: string): boolean {
  return parseMarked(child) !== undefined;
}

/** Returns the name of a child directory as the name of a queue. Most names contain nothing to decode, so this case is fast. */
function nameBelow(root: string, { directory, name }: VisitedDirectory, child: string): string | undefined {
  const isPlain = name !== undefined && /^[a-z0-9_][\w-]*$/i.test(child);
  return isPlain ? `${name}/${child}` : nameOf(root, `${directory}/${child}`);
}

/**
 * Returns the name of the queue with this directory. Returns `undefined` for the chroot, for nodes of other software, and for paths that
 * are not the encoding of any name.
 */
export function nameOf(root: string, directory: string): string | undefined {
  const path = directory.slice(root.length + 1);
  const [first = ''] = path.split('/');
  if (path === '' || first === PRIVATE_DIRECTORY || first === 'zookeeper') return undefined;
  const name = path.replace(/(?:%[0-9a-f]{2})+/gi, (escaped) =>
    Buffer.from(escaped.replaceAll('%', ''), 'hex').toString(),
  );
  return queuePath(root, name) === directory ? name : undefined;
}

/** Returns whether the queue name `name`, or a nested name below it, may begin with the text `beginning`. */
function leadsTo(name: string | undefined, beginning: string): boolean {
  return name !== undefined && (name.startsWith(beginning) || beginning.startsWith(`${name}/`));
}

/**
 * Returns the directory at which a walk can start that looks for queues whose names begin with the text: the deepest directory that contains all of
 * them. Returns the chroot if the text contains characters that must be encoded.
 */
function startOf(root: string, beginning: string): string {
  const above = beginning.slice(0, Math.max(0, beginning.lastIndexOf('/')));
  if (above === '') return root;
  const directory = `${root}/${above}`;
  return nameOf(root, directory) === above ? directory : root;
}
