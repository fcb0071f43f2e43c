import { CONTAINER, splitPath, type Change, type Node, type Tree } from './tree.ts';

/** Result codes of ZooKeeper's protocol. */
export const Code = {
  ok: 0,
  runtimeInconsistency: -2,
  unimplemented: -6,
  badArguments: -8,
  noNode: -101,
  noAuth: -102,
  badVersion: -103,
  noChildrenForEphemerals: -108,
  nodeExists: -110,
  notEmpty: -111,
  sessionExpired: -112,
  sessionMoved: -118,
} as const;

/** One step of a write request. Version -1 means that the node may have any version. */
export type Step =
  | { readonly type: 'create'; readonly path: string; readonly data: Buffer; readonly mode: Mode }
  | { readonly type: 'delete' | 'check'; readonly path: string; readonly version: number }
  | { readonly type: 'setData'; readonly path: string; readonly data: Buffer; readonly version: number }
  | { readonly type: 'delete container'; readonly path: string };

/** The creation mode of a node. */
export interface Mode {
  readonly isSequential: boolean;
  readonly kind: 'persistent' | 'ephemeral' | 'container';
}

/** The session that sent a request. */
export interface Requester {
  readonly session: bigint;
  /** Whether the server rejects the client's changes because the client has no permission. */
  readonly isDenied: boolean;
}

/**
 * The result of checking the steps of a transaction: all changes with their paths, or the step that failed
 * and its error code.
 */
export type Prepared =
  | { readonly changes: readonly Change[]; readonly paths: readonly string[] }
  | { readonly failed: number; readonly code: number };

class Refusal extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`refused with ${code}`);
    this.code = code;
  }
}

/**
 * Checks the steps of a transaction one after another. Each step is checked against the tree that the steps
 * before it produce.
 */
export function prepare(tree: Tree, steps: readonly Step[], requester: Requester): Prepared {
  const after = steps.length > 1 ? tree.copy() : tree;
  const changes: Change[] = [];
  const paths: string[] = [];
  for (const [at, step] of steps.entries()) {
    try {
      const change = changeOf(after, step, requester);
      paths.push(change?.path ?? step.path);
      if (!change) continue;
      changes.push(change);
      if (steps.length > 1) after.apply([change], 0n, () => undefined);
    } catch (error) {
      if (error instanceof Refusal) return { failed: at, code: error.code };
      throw error;
    }
  }
  return { changes, paths };
}

type NodeChange = Extract<Change, { readonly path: string }>;

function changeOf(tree: Tree, step: Step, requester: Requester): NodeChange | undefined {
  if (step.type === 'create') return creation(tree, step, requester);
  if (step.type === 'delete') return deletion(tree, step, requester);
  const node = nodeAt(tree, step.path);
  if (step.type === 'delete container') {
    if (node.owner !== CONTAINER) throw new Refusal(Code.badVersion);
    if (node.children.size > 0) throw new Refusal(Code.notEmpty);
    return { type: 'delete', path: step.path };
  }
  requirePermission(requester);
  requireVersion(node, step.version);
  return step.type === 'setData' ? { type: 'set', path: step.path, data: step.data } : undefined;
}

function creation(
  tree: Tree,
  { path, data, mode: { isSequential, kind } }: Extract<Step, { type: 'create' }>,
  requester: Requester,
): NodeChange {
  if (!isPath(path, isSequential)) throw new Refusal(Code.badArguments);
  const parent = nodeAt(tree, splitPath(path).parent);
  requirePermission(requester);
  const whole = isSequential ? `${path}${numberText(parent.made)}` : path;
  if (tree.nodes.has(whole)) throw new Refusal(Code.nodeExists);
  if (parent.owner > 0n) throw new Refusal(Code.noChildrenForEphemerals);
  const owner = kind === 'ephemeral' ? requester.session : kind === 'container' ? CONTAINER : 0n;
  return { type: 'create', path: whole, data, owner };
}

function deletion(
  tree: Tree,
  { path, version }: Extract<Step, { type: 'delete' | 'check' }>,
  requester: Requester,
): NodeChange {
  if (path === '/' || !isPath(path, false)) throw new Refusal(Code.badArguments);
  nodeAt(tree, splitPath(path).parent);
  requirePermission(requester);
  const node = nodeAt(tree, path);
  requireVersion(node, version);
  if (node.children.size > 0) throw new Refusal(Code.notEmpty);
  return { type: 'delete', path };
}

function nodeAt(tree: Tree, path: string): Node {
  const node = tree.nodes.get(path);
  if (!node) throw new Refusal(Code.noNode);
  return node;
}

function requirePermission({ isDenied }: Requester): void {
  if (isDenied) throw new Refusal(Code.noAuth);
}

function requireVersion(node: Node, version: number): void {
  if (version !== -1 && version !== node.version) throw new Refusal(Code.badVersion);
}

/** Formats the number of a sequential node as the server does: with ten digits, including a minus sign. */
function numberText(number: number): string {
  return number < 0 ? `-${String(-number).padStart(9, '0')}` : String(number).padStart(10, '0');
}

function isPath(path: string, isSequential: boolean): boolean {
  return /^(\/[^/]+)+$/.test(path) || (isSequential && /^(\/[^/]+)*\/$/.test(path)) || path === '/';
}
