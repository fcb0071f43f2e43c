import type { ZkDriver } from '../driver/driver.ts';
import { writeThroughQuorum } from '../driver/quorum.ts';
import { contendersIn, keptToken } from '../queue/entries.ts';
import type { Scheme } from '../queue/naming.ts';
import { hasId } from '../queue/node-text.ts';
import type { QueueLocation } from '../queue/queue-location.ts';

/** The id of an entry whose node is searched for. */
export interface NodeQuery {
  readonly id: string;
  /** The path of the node, if the reply to the create arrived. */
  readonly known: string | undefined;
}

/** A node that was found, with its token. */
export interface FoundNode {
  readonly path: string;
  readonly token: bigint;
  /** The children of the queue's directory, from the list in which the node was found. */
  readonly children: readonly string[];
}

/**
 * Finds the node of an enqueue whose reply was lost, by its id. If it finds none, the enqueue has failed for good: before the list of the
 * queue, a write goes through a quorum, so the list shows the effects of all requests of the previous connection.
 * An id has only one node. Other nodes with the same id, left from an earlier session or an unfinished downgrade, are removed.
 */
export async function findNode(
  zk: ZkDriver,
  location: QueueLocation,
  { id, known }: NodeQuery,
): Promise<FoundNode | undefined> {
  const { directory, scheme } = location;
  const [, children = []] = await Promise.all([writeThroughQuorum(zk), zk.children(directory)]);
  const names = scheme.idIsInText
    ? await namesByText(zk, location, { children, id, known })
    : namesOf(children, scheme, id);
  let node: FoundNode | undefined;
  // While a writer is converted to a reader, the names of both nodes contain the entry's id. The result is
  // the writer's node, which comes first.
  for (const { name } of contendersIn(names, scheme)) {
    const path = `${directory}/${name}`;
    const stat = node || (known !== undefined && known !== path) ? undefined : await zk.stat(path);
    if (stat?.ephemeralOwner === zk.sessionId)
      node = { path, token: keptToken(name, scheme) ?? stat.czxid, children };
    else await zk.delete(path);
  }
  return node;
}

/** Returns the children whose names contain the id. With a naming whose names have no ids, returns none. */
export function namesOf(children: readonly string[], { style, idIsInText }: Scheme, id: string): string[] {
  if (idIsInText || children.length === 0) return [];
  const prefix = style.prefix(id);
  return children.filter((name) => name.startsWith(prefix));
}

interface TextQuery extends NodeQuery {
  readonly children: readonly string[];
}

/**
 * Returns the names of the nodes that contain the id in their content, for a naming whose names have no ids. If the path of the entry's node is
 * `known`, returns its name without a read. Otherwise reads all entries.
 */
async function namesByText(
  zk: ZkDriver,
  { directory, scheme }: QueueLocation,
  { children, id, known }: TextQuery,
): Promise<string[]> {
  const names = contendersIn(children, scheme).map(({ name }) => name);
  if (known !== undefined) return names.filter((name) => known === `${directory}/${name}`);
  const nodes = await Promise.all(names.map((name) => zk.read(`${directory}/${name}`)));
  return names.filter((_, at) => hasId(nodes[at]?.text ?? '', id));
}
