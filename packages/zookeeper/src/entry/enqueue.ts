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

/** An entry's place in its queue. */
export interface NodePosition {
  readonly path: string;
  readonly own: Contender;
  /** The transaction that made the node; of a reader that was a writer, the one that made the writer's. */
  readonly token: bigint;
  /** The conflicting entries ahead, as of a moment after the node was made. */
  readonly ahead: EntriesAhead<Contender>;
}

/** What is to be put into a queue. */
interface Wish {
  readonly place: QueuePlace;
  readonly spec: EntrySpec;
  /** Is told the new node's path at once, also when the rest fails. */
  readonly created: (path: string) => void;
}

/**
 * Joins the queue. Rejects with `FOREIGN_FORMAT` when it is in and should not stay.
 *
 * Create and list are written back to back, and since the server takes the requests of a session in order the list shows the new
 * node. Who has to wait then looks at the new node once, for the watch on it; who is free only where the driver's create does not
 * tell the transaction, which is the token.
 */
export async function joinQueue(context: SessionContext, wish: Wish): Promise<NodePosition> {
  const { place } = wish;
  const { made, children } = await withDirectory(context.zk, place, async () => {
    const [made, children] = await Promise.all([makeNode(context.zk, wish), listBehind(context, place)]);
    return made && { made, children };
  });
  return locate(context, wish, { made, children });
}

/** A node that was made, and what a list that was asked for right after it has shown. */
export interface Fresh {
  readonly made: MadeNode;
  readonly children: readonly string[] | undefined;
}

/**
 * The list to go right behind a create. None of a long queue where the own number tells the name of the entry right ahead: as long as
 * that is there it is not one's turn.
 */
export async function listBehind(
  { zk, lengths }: SessionContext,
  { directory, scheme }: QueuePlace,
): Promise<readonly string[] | undefined> {
  if (scheme.idIsInText && lengths.wasLong(directory)) return undefined;
  return (await zk.children(directory)) ?? [];
}

/** The place of a new node. Rejects with `FOREIGN_FORMAT` when it should not stay. */
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

/** In a long queue, without a list. If the one right ahead is not there others may be, and the list tells. */
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

/** `undefined`: there is no such directory. */
async function makeNode(zk: ZkDriver, { place, spec, created }: Wish): Promise<MadeNode | undefined> {
  const { path, text, mode } = newNode(place, spec);
  const made = await zk.create(path, text, mode);
  if (made.path === undefined) return undefined;
  created(made.path);
  return made;
}

type MadeNode = Extract<Created, { path: string }>;

/** The node of a new entry; the server appends the number. */
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
 * Finds the node of an enqueue whose answer was lost, by the id in its name. Nothing found is final: behind a quorum the list
 * is no older than the last request of the connection before, and a server takes nothing from it once the session
 * has moved on. One id is one node: others with it (of an earlier session, or what a share has left) are removed.
 *
 * @param known the node's path, if its create was answered
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
  // A writer comes before the reader that it was about to turn into.
  for (const { name } of contendersIn(names, scheme)) {
    const path = `${directory}/${name}`;
    const stat = node || (known !== undefined && known !== path) ? undefined : await zk.stat(path);
    if (stat?.ephemeralOwner === zk.sessionId)
      node = { path, token: keptToken(name, scheme) ?? stat.czxid, children };
    else await zk.delete(path);
  }
  return node;
}

/** The position of the node that is found. Rejects with `FOREIGN_FORMAT` when it is in and should not stay. */
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
 * Looks again: the conflicting entries ahead, all of them. Rejects with `ENTRY_LOST` when the own one is not there, and with
 * `FOREIGN_FORMAT` when it should not be.
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
  /** Of the directory, as of that look. */
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

/** None where names do not tell an id. */
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

/** Reads all entries, unless the node's path is known. */
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
