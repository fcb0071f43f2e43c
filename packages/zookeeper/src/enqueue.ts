import type { EntrySpec } from '@queuelock/core/backend';
import type { NodeStat, ZkDriver } from './driver.ts';
import { entryLost } from './errors.ts';
import { conflictsAhead, contendersIn, entryName, parseContender, type Contender } from './entries.ts';
import { refuseForeign } from './foreign.ts';
import type { Scheme } from './naming.ts';
import { withDirectory } from './parents.ts';
import type { QueuePlace } from './queue-place.ts';

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
 * Rejects with `FOREIGN_FORMAT` when it is in and should not stay.
 *
 * @param created is told the new node's path at once, also when the rest fails
 */
export async function takeSeat(
  zk: ZkDriver,
  { place, spec, created }: { place: QueuePlace; spec: EntrySpec; created: (path: string) => void },
): Promise<Seat> {
  const name = `${place.directory}/${entryName(spec, place.scheme)}`;
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
  const strays = namesOf(children, place.scheme, spec.id).filter((stray) => !node.path.endsWith(`/${stray}`));
  await Promise.all(strays.map((stray) => zk.delete(`${place.directory}/${stray}`)));
  const others = children.filter((child) => !strays.includes(child));
  return seatOf(zk, place, { ...node, children: others });
}

/**
 * Finds the node of an enqueue whose answer was lost, by the id in its name. Nothing found is final: with `sync` the list
 * is no older than the last request of the connection before, and a server takes nothing from it once the session
 * has moved on. One id is one node: others with it (of an earlier session, or what a share has left) are removed.
 * Rejects with `FOREIGN_FORMAT` when it is in and should not stay.
 *
 * @param known the node's path, if its create was answered
 */
export async function findSeat(
  zk: ZkDriver,
  place: QueuePlace,
  { id, known }: { readonly id: string; readonly known: string | undefined },
): Promise<Seat | undefined> {
  const { directory, scheme } = place;
  const [, children = []] = await Promise.all([zk.sync(), zk.children(directory)]);
  let node: Node | undefined;
  // A writer comes before the reader that it was about to turn into.
  for (const { name } of contendersIn(namesOf(children, scheme, id), scheme)) {
    const path = `${directory}/${name}`;
    const stat = node || (known !== undefined && known !== path) ? undefined : await zk.stat(path);
    if (stat?.ephemeralOwner === zk.sessionId) node = { path, stat };
    else await zk.delete(path);
  }
  return node && seatOf(zk, place, { ...node, children });
}

/**
 * Looks again: the conflicting entries ahead, nearest first. Rejects with `ENTRY_LOST` when the own one is not there, and with
 * `FOREIGN_FORMAT` when it should not be.
 */
export async function lookAhead(
  zk: ZkDriver,
  place: QueuePlace,
  path: string,
): Promise<readonly Contender[]> {
  const children = await zk.children(place.directory);
  return (await aheadOf(zk, place, { path, children })).ahead;
}

interface Node {
  readonly path: string;
  readonly stat: NodeStat | undefined;
}

interface Listed {
  readonly path: string;
  readonly children: readonly string[] | undefined;
}

async function seatOf(zk: ZkDriver, place: QueuePlace, listed: Node & Listed): Promise<Seat> {
  const { path, stat } = listed;
  if (!stat) throw entryLost(path);
  return { path, czxid: stat.czxid, ...(await aheadOf(zk, place, listed)) };
}

async function aheadOf(
  zk: ZkDriver,
  place: QueuePlace,
  { path, children }: Listed,
): Promise<Pick<Seat, 'own' | 'ahead'>> {
  const { scheme } = place;
  const own = parseContender(path.slice(path.lastIndexOf('/') + 1), scheme);
  if (!own || !children?.includes(own.name)) throw entryLost(path);
  await refuseForeign(zk, place, { children, own });
  return { own, ahead: conflictsAhead(children, { own, scheme }) };
}

function namesOf(children: readonly string[], { style }: Scheme, id: string): string[] {
  const prefix = style.prefix(id);
  return children.filter((name) => name.startsWith(prefix));
}
