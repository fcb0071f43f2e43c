import type { Finding } from '@queuelock/core/backend';
import type { ZkDriver } from '../driver/driver.ts';
import { parseChildren } from '../queue/entries.ts';
import { childrenInFront } from '../queue/foreign.ts';
import { MARKS, parseMarked, type Mark } from '../queue/marks.ts';
import type { QueueLocations } from '../queue/queue-location.ts';
import type { WalkedQueue } from './walk.ts';

/**
 * Reports nodes in queues that are not entries, and queues with entries of namings that do not exclude each
 * other.
 */
export async function diagnoseQueues(
  zk: ZkDriver,
  { schemeFor }: Pick<QueueLocations, 'schemeFor'>,
  queues: readonly WalkedQueue[],
): Promise<readonly Finding[]> {
  const findings = await Promise.all(
    queues.map(async (queue): Promise<readonly Finding[]> => {
      const scheme = schemeFor(queue.name);
      const inFront = childrenInFront(parseChildren(queue.children, scheme), { scheme });
      return [...mixedKinds(queue), ...(await blockingCurator(zk, queue, inFront))];
    }),
  );
  const entries = queues.reduce((sum, { contenders }) => sum + contenders.length, 0);
  const text = `${queues.length} in use, entries: ${entries}`;
  return [{ level: 'ok', about: 'queues', text }, ...findings.flat()];
}

/** Reports queues that have entries of several namings, whose clients do not wait for each other. */
function mixedKinds({ name, children }: WalkedQueue): readonly Finding[] {
  const marks = new Set(
    children.map((child) => parseMarked(child)?.mark).filter((mark) => mark !== undefined),
  );
  const kinds = new Map([...marks].map((mark: Mark) => [MARKS[mark].naming, MARKS[mark].of]));
  const isConfigured = kinds.size === 2 && marks.has('lock-') && marks.has('__lock__');
  if (kinds.size < 2) return [];
  const text = `entries of ${[...kinds.values()].join(' and of ')} are in one directory`;
  const about = `queue ${JSON.stringify(name)}`;
  return isConfigured
    ? [
        {
          level: 'warning',
          about,
          text: `${text}; that is right only if both sides were configured with the names of the other (naming "curator+kazoo")`,
        },
      ]
    : [
        {
          level: 'error',
          about,
          text: `${text}, which do not wait for each other: use different names for the two queues`,
        },
      ];
}

/**
 * Reports children that are not entries, but for which waiters of Curator wait. A child with children of its
 * own is a nested queue.
 */
async function blockingCurator(
  zk: ZkDriver,
  { name, directory }: WalkedQueue,
  inFront: readonly string[],
): Promise<readonly Finding[]> {
  const stats = await Promise.all(inFront.map((child) => zk.stat(`${directory}/${child}`)));
  return inFront.flatMap((child, at): readonly Finding[] => {
    const stat = stats[at];
    if (!stat) return [];
    const about = `node ${JSON.stringify(`${directory}/${child}`)}`;
    const isNested = stat.childChanges > 0;
    const text = isNested
      ? `it is a queue below the queue ${JSON.stringify(name)}, and Curator's waiters in that queue wait for it: do not nest names that Curator uses`
      : `it is not an entry of the queue ${JSON.stringify(name)}, and Curator's waiters wait for it forever: delete it`;
    return [{ level: isNested ? 'warning' : 'error', about, text }];
  });
}
