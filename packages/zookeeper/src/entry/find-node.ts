import type { ZkDriver } from '../driver/driver.ts';
import { writeThroughQuorum } from '../driver/quorum.ts';
import { contendersIn, keptToken } from '../queue/entries.ts';
import type { Scheme } from '../queue/naming.ts';
import { hasId } from '../queue/node-text.ts';
import type { QueueLocation } from '../queue/queue-location.ts';

/** Identifies a node. */
export interface NodeQuery {
  readonly id: string;
  /** The path of the node, if the reply to the create arrived. */
  readonly known: string | undefined;
}

/** The node of an entry of this session. */
export interface FoundNode {
  readonly path: string;
  readonly token: bigint;
  /** The children of the directory in the same read. */
  readonly children: readonly string[];
}

/**
 * Finds the node of an enqueue whose reply was lost, by the id in its name. An empty result is final. After the read through a quorum, the
 * list is at least as recent as the last request of the previous connection. A server accepts no request of that connection once the
 * session has moved. Each id has one node: others with the same id, from an earlier session or an unfinished downgrade, are removed.
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
  // A writer sorts before the reader that it is converted to, so the writer is found first.
  for (const { name } of contendersIn(names, scheme)) {
    const path = `${directory}/${name}`;
    const stat = node || (known !== undefined && known !== path) ? undefined : await zk.stat(path);
    if (stat?.ephemeralOwner === zk.sessionId)
      node = { path, token: keptToken(name, scheme) ?? stat.czxid, children };
    else await zk.delete(path);
  }
  return node;
}

/** Returns the children whose names contain the id, or an empty list if the naming has no ids in names. */
export function namesOf(children: readonly string[], { style, idIsInText }: Scheme, id: string): string[] {
  if (idIsInText || children.length === 0) return [];
  const prefix = style.prefix(id);
  return children.filter((name) => name.startsWith(prefix));
}

interface TextQuery extends NodeQuery {
  readonly children: readonly string[];
}

/** Reads the content of all entries, unless the path of the node is known. */
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
