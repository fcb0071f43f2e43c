import type { EntrySpec } from '@queuelock/core/backend';
import type { NodeStat, ZkDriver } from './driver.ts';
import { entryLost } from './errors.ts';
import {
  conflictsAhead,
  contendersIn,
  entryName,
  entryPrefix,
  parseContender,
  type Contender,
} from './names.ts';
import { withDirectory, type Place } from './parents.ts';

/** An entry's place in its queue. */
export interface Seat {
  readonly path: string;
  readonly own: Contender;
  /** The transaction that made the node. */
  readonly czxid: bigint;
  /** The conflicting entries ahead, nearest first, as of a moment after the node was made. */
  readonly ahead: readonly Contender[];
}

/**
 * Joins the queue. Three requests in two flights: create and list are written back to back, and since the server takes
 * the requests of a session in order the list shows the new node; the look at the new node, which brings the fencing
 * token, follows as soon as the create is answered (the C client has no create that answers with it).
 *
 * @param created is told the new node's path at once, also when the rest fails
 */
export async function takeSeat(
  zk: ZkDriver,
  { place, spec, created }: { place: Place; spec: EntrySpec; created: (path: string) => void },
): Promise<Seat> {
  const name = `${place.directory}/${entryName(spec)}`;
  const create = async (): Promise<Node | undefined> => {
    const { path } = await zk.create(name, spec.value ?? '', 'ephemeral-sequential');
    if (path === undefined) return undefined;
    created(path);
    return { path, stat: await zk.stat(path) };
  };
  const { node, children } = await withDirectory(zk, place, async () => {
    const [node, children] = await Promise.all([create(), zk.children(place.directory)]);
    return node && { node, children: children ?? [] };
  });
  const strays = namesOf(children, spec.id).filter((stray) => !node.path.endsWith(`/${stray}`));
  await Promise.all(strays.map((stray) => zk.delete(`${place.directory}/${stray}`)));
  return seatOf(
    node,
    children.filter((child) => !strays.includes(child)),
  );
}

/**
 * Finds the node of an enqueue whose answer was lost, by the id in its name. Nothing found is final: with `sync` the list
 * is no older than the last request of the connection before, and a server takes nothing from it once the session
 * has moved on. One id is one node: others with it (of an earlier session, or what a share has left) are removed.
 *
 * @param known the node's path, if its create was answered
 */
export async function findSeat(
  zk: ZkDriver,
  { directory }: Place,
  { id, known }: { readonly id: string; readonly known: string | undefined },
): Promise<Seat | undefined> {
  const [, children = []] = await Promise.all([zk.sync(), zk.children(directory)]);
  let seat: Seat | undefined;
  // A writer comes before the reader that it was about to turn into.
  for (const { name } of contendersIn(namesOf(children, id))) {
    const path = `${directory}/${name}`;
    const stat = seat || (known !== undefined && known !== path) ? undefined : await zk.stat(path);
    if (stat?.ephemeralOwner === zk.sessionId) seat = seatOf({ path, stat }, children);
    else await zk.delete(path);
  }
  return seat;
}

/** Looks again: the conflicting entries ahead, nearest first. Rejects with `ENTRY_LOST` when the own one is not there. */
export async function lookAhead(zk: ZkDriver, path: string): Promise<Contender[]> {
  const slash = path.lastIndexOf('/');
  const children = await zk.children(path.slice(0, slash));
  const own = parseContender(path.slice(slash + 1));
  if (!own || !children?.includes(own.name)) throw entryLost(path);
  return conflictsAhead(children, own);
}

interface Node {
  readonly path: string;
  readonly stat: NodeStat | undefined;
}

function seatOf({ path, stat }: Node, children: readonly string[]): Seat {
  const own = parseContender(path.slice(path.lastIndexOf('/') + 1));
  if (!stat || !own || !children.includes(own.name)) throw entryLost(path);
  return { path, own, czxid: stat.czxid, ahead: conflictsAhead(children, own) };
}

function namesOf(children: readonly string[], id: string): string[] {
  const prefix = entryPrefix(id);
  return children.filter((name) => name.startsWith(prefix));
}
