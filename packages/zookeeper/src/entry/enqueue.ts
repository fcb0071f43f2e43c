import { turnOf, type EntriesAhead, type EntrySpec } from '@queuelock/core/backend';
import type { Created, NodeStat, ZkDriver } from '../driver/driver.ts';
import { entryLost } from '../driver/errors.ts';
import {
  conflictsAhead,
  contendersIn,
  entryName,
  keptToken,
  nameBefore,
  parseContender,
  type Contender,
} from '../queue/entries.ts';
import { refuseForeign } from '../queue/foreign.ts';
import { nameOf } from '../queue/names.ts';
import type { Scheme } from '../queue/naming.ts';
import { hasId, textOf } from '../queue/node-text.ts';
import type { SessionContext } from '../server/session-context.ts';
import { withDirectory } from '../queue/parents.ts';
import { throughQuorum } from '../driver/quorum.ts';
import type { QueuePlace } from '../queue/queue-place.ts';

/** The position of an entry in its queue. */
export interface NodePosition {
  readonly path: string;
  readonly own: Contender;
  /** The id of the transaction that created the node. For a reader that was a writer, it is the one of the writer's node. */
  readonly token: bigint;
  /** The conflicting entries ahead, at some moment after the node was created. */
  readonly ahead: EntriesAhead<Contender>;
}

/** The entry that is to be enqueued. */
interface Wish {
  readonly place: QueuePlace;
  readonly spec: EntrySpec;
  /** Is called with the path of the new node at once, even if a later step fails. */
  readonly created: (path: string) => void;
}

/**
 * Enqueues an entry. Rejects with `FOREIGN_FORMAT` when the entry is in the queue and must not stay there.
 *
 * Create and list are written back to back. The server executes the requests of a session in order, so the list shows the new node. A
 * waiter then reads the new node once, to set the watch on it. An admitted entry is read only if the driver's create does not return the
 * transaction id, which is the token.
 */
export async function joinQueue(context: SessionContext, wish: Wish): Promise<NodePosition> {
  const { place } = wish;
  const { made, children } = await withDirectory(context.zk, place, async () => {
    const [made, children] = await Promise.all([makeNode(context.zk, wish), listBehind(context, place)]);
    return made && { made, children };
  });
  return locate(context, wish, { made, children });
}

/** A created node, and the list that was requested right after it. */
export interface Fresh {
  readonly made: MadeNode;
  readonly children: readonly string[] | undefined;
}

/**
 * Lists the children right after a create. Returns `undefined` without a request when the queue is long and the predecessor's name follows
 * from the own number: while the predecessor exists, the entry is not admitted.
 */
export async function listBehind(
  { zk, lengths }: SessionContext,
  { directory, scheme }: QueuePlace,
): Promise<readonly string[] | undefined> {
  if (scheme.idIsInText && lengths.wasLong(directory)) return undefined;
  return (await zk.children(directory)) ?? [];
}

/** Returns the position of a new node. Rejects with `FOREIGN_FORMAT` when the node must not stay. */
export async function locate(
  context: SessionContext,
  { place, spec }: Pick<Wish, 'place' | 'spec'>,
  { made, children }: Fresh,
): Promise<NodePosition> {
  const { path } = made;
  if (!children) return locateBehind(context, place, path);
  const { zk, lengths } = context;
  const { directory, scheme } = place;
  lengths.counted(directory, children.length);
  const strays = namesOf(
    children.filter((child) => !path.endsWith(`/${child}`)),
    scheme,
    spec.id,
  );
  await Promise.all(strays.map((stray) => zk.delete(`${directory}/${stray}`)));
  const others = children.filter((child) => !strays.includes(child));
  const { own, ahead } = await standingOf(zk, place, { path, children: others });
  const waits = !turnOf(ahead, spec).admitted;
  const token = waits ? await watchOwn(context, path) : (made.czxid ?? czxidOf(path, await zk.stat(path)));
  return { path, own, ahead, token };
}

/** Returns the position in a long queue without a list. If the direct predecessor does not exist, a list shows whether others do. */
async function locateBehind(context: SessionContext, place: QueuePlace, path: string): Promise<NodePosition> {
  const own = ownIn(path, place);
  const name = nameBefore(own.sequence ?? 0, place.scheme);
  const [token, before] = await Promise.all([
    watchOwn(context, path),
    context.watches.sight(`${place.directory}/${name}`),
  ]);
  const rival = before && parseContender(name, place.scheme);
  return { path, own, token, ahead: rival ? { refs: [rival] } : await lookAhead(context, place, path) };
}

/** Creates the node; resolves with `undefined` if the directory does not exist. */
async function makeNode(zk: ZkDriver, { place, spec, created }: Wish): Promise<MadeNode | undefined> {
  const { path, text, mode } = newNode(place, spec);
  const made = await zk.create(path, text, mode);
  if (made.path === undefined) return undefined;
  created(made.path);
  return made;
}

type MadeNode = Extract<Created, { path: string }>;

/** Returns path, content and mode of the node of a new entry. The server appends the number. */
export function newNode(
  { directory, scheme }: QueuePlace,
  spec: EntrySpec,
): { readonly path: string; readonly text: string; readonly mode: 'ephemeral-sequential' } {
  const text = textOf({ id: spec.id, value: spec.value ?? '' }, scheme);
  return { path: `${directory}/${entryName(spec, scheme)}`, text, mode: 'ephemeral-sequential' };
}

async function watchOwn({ zk, watches }: SessionContext, path: string): Promise<bigint> {
  return czxidOf(path, await watches.sight(path, () => zk.stat(path, { watch: true })));
}

function czxidOf(path: string, stat: NodeStat | undefined): bigint {
  if (!stat) throw entryLost(path);
  return stat.czxid;
}

/**
 * Finds the node of an enqueue whose reply was lost, by the id in its name. An empty result is final. After the read through a quorum, the
 * list is at least as recent as the last request of the previous connection. A server accepts no request of that connection once the
 * session has moved. Each id has one node: others with the same id, from an earlier session or an unfinished downgrade, are removed.
 *
 * @param known the path of the node, if the create was answered
 */
export async function findNode(
  zk: ZkDriver,
  place: QueuePlace,
  { id, known }: { readonly id: string; readonly known: string | undefined },
): Promise<FoundNode | undefined> {
  const { directory, scheme } = place;
  const [, children = []] = await Promise.all([throughQuorum(zk), zk.children(directory)]);
  const names = scheme.idIsInText
    ? await namesByText(zk, place, { children, id, known })
    : namesOf(children, scheme, id);
  let node: FoundNode | undefined;
  // A writer sorts before the reader that it is converted to.
  for (const { name } of contendersIn(names, scheme)) {
    const path = `${directory}/${name}`;
    const stat = node || (known !== undefined && known !== path) ? undefined : await zk.stat(path);
    if (stat?.ephemeralOwner === zk.sessionId)
      node = { path, token: keptToken(name, scheme) ?? stat.czxid, children };
    else await zk.delete(path);
  }
  return node;
}

/** Returns the position of the node that `findNode` finds. Rejects with `FOREIGN_FORMAT` when it must not stay in the queue. */
export async function findPosition(
  zk: ZkDriver,
  place: QueuePlace,
  sought: Parameters<typeof findNode>[2],
): Promise<NodePosition | undefined> {
  const node = await findNode(zk, place, sought);
  if (!node) return undefined;
  const { path, token } = node;
  return { path, token, ...(await standingOf(zk, place, node)) };
}

/**
 * Reads all conflicting entries ahead. Rejects with `ENTRY_LOST` when the own node does not exist, and with `FOREIGN_FORMAT` when it must
 * not stay.
 */
export async function lookAhead(
  { zk, lengths }: SessionContext,
  place: QueuePlace,
  path: string,
): Promise<EntriesAhead<Contender>> {
  const children = await zk.children(place.directory);
  lengths.counted(place.directory, children?.length ?? 0);
  return (await standingOf(zk, place, { path, children })).ahead;
}

interface FoundNode {
  readonly path: string;
  readonly token: bigint;
  /** The children of the directory in the same read. */
  readonly children: readonly string[];
}

interface Listed {
  readonly path: string;
  readonly children: readonly string[] | undefined;
}

async function standingOf(
  zk: ZkDriver,
  place: QueuePlace,
  { path, children }: Listed,
): Promise<Pick<NodePosition, 'own' | 'ahead'>> {
  const { scheme } = place;
  const own = ownIn(path, place);
  if (!children?.includes(own.name)) throw entryLost(path);
  await refuseForeign(zk, place, { children, own });
  const refs = conflictsAhead(children, { own, scheme });
  return { own, ahead: { refs, total: refs.length } };
}

function ownIn(path: string, { scheme }: QueuePlace): Contender {
  const own = parseContender(nameOf(path), scheme);
  if (!own) throw entryLost(path);
  return own;
}

/** Returns no names if the names do not contain ids. */
function namesOf(children: readonly string[], { style, idIsInText }: Scheme, id: string): string[] {
  if (idIsInText || children.length === 0) return [];
  const prefix = style.prefix(id);
  return children.filter((name) => name.startsWith(prefix));
}

interface Sought {
  readonly children: readonly string[];
  readonly id: string;
  readonly known: string | undefined;
}

/** Reads the content of all entries, unless the path of the node is known. */
async function namesByText(
  zk: ZkDriver,
  { directory, scheme }: QueuePlace,
  { children, id, known }: Sought,
): Promise<string[]> {
  const names = contendersIn(children, scheme).map(({ name }) => name);
  if (known !== undefined) return names.filter((name) => known === `${directory}/${name}`);
  const nodes = await Promise.all(names.map((name) => zk.read(`${directory}/${name}`)));
  return names.filter((_, at) => hasId(nodes[at]?.text ?? '', id));
}
