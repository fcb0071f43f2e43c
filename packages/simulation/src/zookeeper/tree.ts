/** A node of the tree. An ephemeral node ends with the session that owns it. */
export interface Node {
  readonly data: Buffer;
  readonly czxid: bigint;
  readonly mzxid: bigint;
  /** Id of the last transaction that created or deleted a child. */
  readonly pzxid: bigint;
  readonly version: number;
  /**
   * Number of children ever created, modulo 2^32. The server appends it to the name of the next sequential
   * child.
   */
  readonly made: number;
  readonly owner: bigint;
  readonly children: ReadonlySet<string>;
}

/** A change of the tree. All checks were made before, so applying it cannot fail. */
export type Change =
  | { readonly type: 'create'; readonly path: string; readonly data: Buffer; readonly owner: bigint }
  | { readonly type: 'delete'; readonly path: string }
  | { readonly type: 'set'; readonly path: string; readonly data: Buffer }
  | { readonly type: 'begin session'; readonly session: bigint; readonly timeoutMs: number }
  | { readonly type: 'end session'; readonly session: bigint };

/** The types of watch events, with the numbers of the protocol. */
export const EventType = { created: 1, deleted: 2, changed: 3, child: 4 } as const;

/** The value that marks a container node, in place of the id of a session that owns the node. */
export const CONTAINER: bigint = -(2n ** 63n);

/**
 * Called for each event that a change causes, in order. The event is about the node itself, or, with type
 * `child`, about its list of children.
 */
export type OnEvent = (path: string, type: (typeof EventType)[keyof typeof EventType]) => void;

const ROOT: Node = {
  ...{ data: Buffer.alloc(0), czxid: 0n, mzxid: 0n, pzxid: 0n, version: 0, made: 0, owner: 0n },
  children: new Set(),
};

/** The nodes and sessions of a simulated ZooKeeper after one transaction. */
export class Tree {
  /** Id of the last transaction that was applied. */
  zxid = 0n;
  readonly nodes: Map<string, Node>;
  /** Sessions with their timeouts in milliseconds. */
  readonly sessions: Map<bigint, number>;

  constructor(nodes: Iterable<[string, Node]> = [['/', ROOT]], sessions: Iterable<[bigint, number]> = []) {
    this.nodes = new Map(nodes);
    this.sessions = new Map(sessions);
  }

  copy(): Tree {
    const tree = new Tree(this.nodes, this.sessions);
    tree.zxid = this.zxid;
    return tree;
  }

  /** Returns the paths of the ephemeral nodes of a session. */
  ephemeralsOf(session: bigint): string[] {
    return [...this.nodes].flatMap(([path, { owner }]) => (owner === session ? [path] : []));
  }

  /**
   * Applies the changes of one transaction. Returns the node of each change, in its state right after that
   * change.
   */
  apply(changes: readonly Change[], zxid: bigint, report: OnEvent): readonly (Node | undefined)[] {
    this.zxid = zxid;
    return changes.map((change) => {
      this.#apply(change, zxid, report);
      return 'path' in change ? this.nodes.get(change.path) : undefined;
    });
  }

  #apply(change: Change, zxid: bigint, tell: OnEvent): void {
    if (change.type === 'create') this.#create(change, zxid, tell);
    else if (change.type === 'delete') this.#delete(change.path, zxid, tell);
    else if (change.type === 'set') this.#set(change, zxid, tell);
    else if (change.type === 'begin session') this.sessions.set(change.session, change.timeoutMs);
    else {
      this.sessions.delete(change.session);
      for (const path of this.ephemeralsOf(change.session)) this.#delete(path, zxid, tell);
    }
  }

  #create({ path, data, owner }: Extract<Change, { type: 'create' }>, zxid: bigint, tell: OnEvent): void {
    const { parent, name } = splitPath(path);
    const above = this.nodes.get(parent) as Node;
    const children = new Set(above.children).add(name);
    this.nodes.set(parent, { ...above, children, made: (above.made + 1) | 0, pzxid: zxid });
    this.nodes.set(path, { ...ROOT, data, owner, czxid: zxid, mzxid: zxid, pzxid: zxid });
    tell(path, EventType.created);
    tell(parent, EventType.child);
  }

  #delete(path: string, zxid: bigint, tell: OnEvent): void {
    const { parent, name } = splitPath(path);
    const above = this.nodes.get(parent) as Node;
    const children = new Set(above.children);
    children.delete(name);
    this.nodes.set(parent, { ...above, children, pzxid: zxid });
    this.nodes.delete(path);
    tell(path, EventType.deleted);
    tell(parent, EventType.child);
  }

  #set({ path, data }: Extract<Change, { type: 'set' }>, zxid: bigint, tell: OnEvent): void {
    const before = this.nodes.get(path) as Node;
    this.nodes.set(path, { ...before, data, mzxid: zxid, version: (before.version + 1) | 0 });
    tell(path, EventType.changed);
  }
}

/** Splits a path into parent and name. */
export function splitPath(path: string): { readonly parent: string; readonly name: string } {
  const slash = path.lastIndexOf('/');
  return { parent: slash <= 0 ? '/' : path.slice(0, slash), name: path.slice(slash + 1) };
}
