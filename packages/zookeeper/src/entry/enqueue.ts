import { turnOf, type EntriesAhead, type EntrySpec } from '@queuelock/core/backend';
import type { Created, NodeStat, ZkDriver } from '../driver/driver.ts';
import { entryLost } from '../driver/errors.ts';
import { findNode, namesOf, type NodeQuery } from './find-node.ts';
import {
  conflictsAhead,
  entryName,
  nameBefore,
  parseChildren,
  parseContender,
  type Contender,
} from '../queue/entries.ts';
import { refuseForeign } from '../queue/foreign.ts';
import { nameOf } from '../queue/names.ts';
import { textOf } from '../queue/node-text.ts';
import type { SessionContext } from '../server/session-context.ts';
import { withDirectory } from '../queue/parents.ts';
import type { QueueLocation } from '../queue/queue-location.ts';

/** The node of an entry, its token, and the entries ahead of it. */
export interface NodePosition {
  readonly path: string;
  readonly own: Contender;
  /**
   * The fencing token: the id of the transaction that created the node. A reader that was converted from a writer keeps the writer's
   * token.
   */
  readonly token: bigint;
  /** The conflicting entries ahead, as a read after the creation of the node showed them. */
  readonly ahead: EntriesAhead<Contender>;
}

/** The arguments of an enqueue: the queue's location, the entry, and a callback. */
interface EnqueueRequest {
  readonly location: QueueLocation;
  readonly spec: EntrySpec;
  /**
   * Called with the path of the new node as soon as the node is created. So the path is known even if a later
   * request of the enqueue fails.
   */
  readonly created: (path: string) => void;
}

/**
 * Enqueues an entry. Rejects with `FOREIGN_FORMAT` when the queue has foreign children; see `foreign.ts`.
 * Sends the create and a list of the queue together. The server executes them in order, so the list contains the new node. Afterwards a
 * waiter reads its own node to set a watch on it. An admitted entry needs this read only if the reply to the create lacks the transaction
 * id, which is the fencing token.
 */
export async function joinQueue(context: SessionContext, request: EnqueueRequest): Promise<NodePosition> {
  const { location } = request;
  const { made, children } = await withDirectory(context.zk, location, async () => {
    const [made, children] = await Promise.all([
      makeNode(context.zk, request),
      listAfterCreate(context, location),
    ]);
    return made && { made, children };
  });
  return locate(context, request, { made, children });
}

/** A node that was created, and the list of the queue that was requested with it. */
export interface CreatedNode {
  readonly made: MadeNode;
  readonly children: readonly string[] | undefined;
}

/**
 * Requests a list of the queue's children, in the same packet as the create of an entry. If the queue is long
 * and its names consist of a number (`Scheme.idIsInText`), sends no request and returns `undefined`. Then the
 * number of the new entry determines the name of its predecessor. While that predecessor exists, the entry is
 * not admitted, so no list is needed.
 */
export async function listAfterCreate(
  { zk, sizes }: SessionContext,
  { directory, scheme }: QueueLocation,
): Promise<readonly string[] | undefined> {
  if (scheme.idIsInText && sizes.wasLong(directory)) return undefined;
  return (await zk.children(directory)) ?? [];
}

/** Returns the position of a new node. Rejects with `FOREIGN_FORMAT` when the queue has foreign children; see `foreign.ts`. */
export async function locate(
  context: SessionContext,
  { location, spec }: Pick<EnqueueRequest, 'location' | 'spec'>,
  { made, children }: CreatedNode,
): Promise<NodePosition> {
  const { path } = made;
  if (!children) return locateInLongQueue(context, location, path);
  const { zk, sizes } = context;
  const { directory, scheme } = location;
  sizes.record(directory, children.length);
  const ownName = nameOf(path);
  const strays = namesOf(children, scheme, spec.id).filter((name) => name !== ownName);
  await Promise.all(strays.map((stray) => zk.delete(`${directory}/${stray}`)));
  const others = strays.length === 0 ? children : children.filter((child) => !strays.includes(child));
  const { own, ahead } = await positionIn(zk, location, { path, children: others });
  const waits = !turnOf(ahead, spec).admitted;
  const token = waits ? await watchOwn(context, path) : (made.czxid ?? czxidOf(path, await zk.stat(path)));
  return { path, own, ahead, token };
}

/**
 * Returns the position in a long queue by a read of the predecessor's node. Lists the queue only if that node does not exist, since entries
 * further ahead may still exist.
 */
async function locateInLongQueue(
  context: SessionContext,
  location: QueueLocation,
  path: string,
): Promise<NodePosition> {
  const own = ownIn(path, location);
  const name = nameBefore(own.sequence ?? 0, location.scheme);
  const [token, before] = await Promise.all([
    watchOwn(context, path),
    context.watches.readAndWatch(`${location.directory}/${name}`),
  ]);
  const predecessor = before && parseContender(name, location.scheme);
  return {
    path,
    own,
    token,
    ahead: predecessor ? { refs: [predecessor] } : await readEntriesAhead(context, location, path),
  };
}

/** Creates the node of an entry. Resolves with `undefined` if the directory of the queue does not exist. */
async function makeNode(
  zk: ZkDriver,
  { location, spec, created }: EnqueueRequest,
): Promise<MadeNode | undefined> {
  const { path, text, mode } = newNode(location, spec);
  const made = await zk.create(path, text, mode);
  if (made.path === undefined) return undefined;
  created(made.path);
  return made;
}

type MadeNode = Extract<Created, { path: string }>;

/** Returns path, content and mode of the node of a new entry. The server appends the number. */
export function newNode(
  { directory, scheme }: QueueLocation,
  spec: EntrySpec,
): { readonly path: string; readonly text: string; readonly mode: 'ephemeral-sequential' } {
  const text = textOf({ id: spec.id, value: spec.value ?? '' }, scheme);
  return { path: `${directory}/${entryName(spec, scheme)}`, text, mode: 'ephemeral-sequential' };
}

async function watchOwn({ zk, watches }: SessionContext, path: string): Promise<bigint> {
  return czxidOf(path, await watches.readAndWatch(path, () => zk.stat(path, { watch: true })));
}

function czxidOf(path: string, stat: NodeStat | undefined): bigint {
  if (!stat) throw entryLost(path);
  return stat.czxid;
}

/** Returns the position of an entry whose node `findNode` finds. Rejects with `FOREIGN_FORMAT` when the queue has foreign children. */
export async function findPosition(
  zk: ZkDriver,
  location: QueueLocation,
  query: NodeQuery,
): Promise<NodePosition | undefined> {
  const node = await findNode(zk, location, query);
  if (!node) return undefined;
  const { path, token } = node;
  return { path, token, ...(await positionIn(zk, location, node)) };
}

/**
 * Reads all conflicting entries ahead of an entry. Rejects with `ENTRY_LOST` when the entry's own node does not exist, and with
 * `FOREIGN_FORMAT` when the queue has foreign children; see `foreign.ts`.
 */
export async function readEntriesAhead(
  { zk, sizes }: SessionContext,
  location: QueueLocation,
  path: string,
): Promise<EntriesAhead<Contender>> {
  const children = await zk.children(location.directory);
  sizes.record(location.directory, children?.length ?? 0);
  return (await positionIn(zk, location, { path, children })).ahead;
}

interface Listed {
  readonly path: string;
  readonly children: readonly string[] | undefined;
}

async function positionIn(
  zk: ZkDriver,
  location: QueueLocation,
  { path, children }: Listed,
): Promise<Pick<NodePosition, 'own' | 'ahead'>> {
  const { scheme } = location;
  const own = ownIn(path, location);
  if (!children?.includes(own.name)) throw entryLost(path);
  const parsed = parseChildren(children, scheme);
  await refuseForeign(zk, location, { children: parsed, own });
  const refs = conflictsAhead(parsed.contenders, own);
  return { own, ahead: { refs, total: refs.length } };
}

function ownIn(path: string, { scheme }: QueueLocation): Contender {
  const own = parseContender(nameOf(path), scheme);
  if (!own) throw entryLost(path);
  return own;
}
