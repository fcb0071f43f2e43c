import { JuteReader, JuteWriter, OpCode, framed, type WireStat } from '../product.ts';
import { Code, type Mode, type Step } from './prepare.ts';
import type { Node } from './tree.ts';

/** A request that a client sends. */
export type Request = { readonly xid: number } & (
  | { readonly type: 'ping' | 'sync' | 'close' | 'auth' | 'unknown' }
  | ReadRequest
  | { readonly type: 'ephemerals'; readonly prefix: string }
  | { readonly type: 'change'; readonly steps: readonly Step[]; readonly op: number }
);

/** A read request, which may also set a watch. */
export interface ReadRequest {
  readonly type: 'look';
  readonly op: number;
  readonly path: string;
  readonly watches: boolean;
}

/** The first message that a client sends. */
export interface Hello {
  readonly lastZxid: bigint;
  readonly timeoutMs: number;
  /** Id of the session to continue; 0 for a new session. */
  readonly session: bigint;
  readonly password: Buffer;
}

const LENGTH_BYTES = 4;
const PASSWORD_BYTES = 16;
// The creation modes, indexed by the flags of a create request.
const MODES: readonly Mode[] = [
  { kind: 'persistent', isSequential: false },
  { kind: 'ephemeral', isSequential: false },
  { kind: 'persistent', isSequential: true },
  { kind: 'ephemeral', isSequential: true },
  { kind: 'container', isSequential: false },
];
const READ_OPS: ReadonlySet<number> = new Set([
  OpCode.exists,
  OpCode.getData,
  OpCode.getChildren,
  OpCode.getChildren2,
]);
const CREATES: ReadonlySet<number> = new Set([OpCode.create, OpCode.create2, OpCode.createContainer]);

export function helloOf(frame: Buffer): Hello {
  const reader = new JuteReader(frame.subarray(LENGTH_BYTES));
  reader.int();
  const [lastZxid, timeoutMs, session] = [reader.long(), reader.int(), reader.long()];
  return { lastZxid, timeoutMs, session, password: Buffer.from(reader.buffer() ?? Buffer.alloc(0)) };
}

export function requestOf(frame: Buffer): Request {
  const reader = new JuteReader(frame.subarray(LENGTH_BYTES));
  const [xid, op] = [reader.int(), reader.int()];
  if (op === OpCode.ping) return { xid, type: 'ping' };
  if (op === OpCode.sync) return { xid, type: 'sync' };
  if (op === OpCode.closeSession) return { xid, type: 'close' };
  if (op === OpCode.auth) return { xid, type: 'auth' };
  if (op === OpCode.getEphemerals) return { xid, type: 'ephemerals', prefix: reader.text() };
  if (READ_OPS.has(op)) return { xid, type: 'look', op, path: reader.text(), watches: reader.bool() };
  if (op === OpCode.multi) return { xid, type: 'change', op, steps: stepsOf(reader) };
  const step = stepOf(op, reader);
  return step ? { xid, type: 'change', op, steps: [step] } : { xid, type: 'unknown' };
}

function stepsOf(reader: JuteReader): Step[] {
  const steps: Step[] = [];
  for (;;) {
    const [op, isEnd] = [reader.int(), reader.bool()];
    reader.int();
    const step = isEnd ? undefined : stepOf(op, reader);
    if (!step) return steps;
    steps.push(step);
  }
}

function stepOf(op: number, reader: JuteReader): Step | undefined {
  if (CREATES.has(op)) {
    const [path, data] = [reader.text(), bytesOf(reader)];
    reader.list((acl) => [acl.int(), acl.text(), acl.text()]);
    return { type: 'create', path, data, mode: MODES[reader.int()] as Mode };
  }
  if (op === OpCode.setData)
    return { type: 'setData', path: reader.text(), data: bytesOf(reader), version: reader.int() };
  if (op === OpCode.delete || op === OpCode.check)
    return {
      type: op === OpCode.delete ? 'delete' : 'check',
      path: reader.text(),
      version: reader.int(),
    };
  return undefined;
}

function bytesOf(reader: JuteReader): Buffer {
  return Buffer.from(reader.buffer() ?? Buffer.alloc(0));
}

/** Returns the frame that confirms a session. A timeout of 0 means that the session does not exist. */
export function welcomeFrame(session: bigint, timeoutMs: number, password: Buffer): Buffer {
  const writer = new JuteWriter().int(0).int(0).int(timeoutMs).long(session);
  return framed(
    writer
      .buffer(timeoutMs > 0 ? password : Buffer.alloc(PASSWORD_BYTES))
      .bool(false)
      .bytes(),
  );
}

/** Returns the frame of a response, with the id of the member's last transaction. */
export function responseFrame(
  { xid, zxid, code }: { readonly xid: number; readonly zxid: bigint; readonly code: number },
  put: (writer: JuteWriter) => unknown = () => undefined,
): Buffer {
  const writer = new JuteWriter().int(0).int(xid).long(zxid).int(code);
  put(writer);
  return framed(writer.bytes());
}

const EVENT_XID = -1;
const SYNC_CONNECTED = 3;

export function eventFrame(path: string, type: number): Buffer {
  return responseFrame({ xid: EVENT_XID, zxid: -1n, code: Code.ok }, (writer) =>
    writer.int(type).int(SYNC_CONNECTED).text(path),
  );
}

/**
 * Returns the metadata (`Stat`) of a node in the form that clients receive. As in ZooKeeper, `cversion` is
 * twice the number of children ever created, minus the number of present children. The owner of a container
 * is reported as 0.
 */
function statOf(node: Node): WireStat {
  return {
    ...{ czxid: node.czxid, mzxid: node.mzxid, pzxid: node.pzxid, ctime: 0n, mtime: 0n },
    ...{ version: node.version, aversion: 0, ephemeralOwner: node.owner > 0n ? node.owner : 0n },
    cversion: (2 * node.made - node.children.size) | 0,
    dataLength: node.data.length,
    numChildren: node.children.size,
  };
}

export function putStat(writer: JuteWriter, node: Node): void {
  const stat = statOf(node);
  writer.long(stat.czxid).long(stat.mzxid).long(stat.ctime).long(stat.mtime);
  writer.int(stat.version).int(stat.cversion).int(stat.aversion).long(stat.ephemeralOwner);
  writer.int(stat.dataLength).int(stat.numChildren).long(stat.pzxid);
}

/** An executed write, with the data from which its response is written. */
export interface Carried {
  readonly op: number;
  readonly steps: readonly Step[];
  /** The path of the node that each step of the write concerns. */
  readonly paths: readonly string[];
  /**
   * The node after each step of the write, without the steps of type `check`. `undefined` for a deleted node.
   */
  readonly nodes: readonly (Node | undefined)[];
}

/** Writes the response to a change that was executed. */
export function putDone(writer: JuteWriter, { op, steps, paths, nodes }: Carried): void {
  const left = [...nodes];
  for (const [at, step] of steps.entries()) {
    const node = step.type === 'check' ? undefined : left.shift();
    const type = op === OpCode.multi ? opOf(step) : op;
    if (op === OpCode.multi) writer.int(type).bool(false).int(0);
    if (CREATES.has(type)) writer.text(paths[at] as string);
    if (node && RETURNS_STAT.has(type)) putStat(writer, node);
  }
  if (op === OpCode.multi) putEnd(writer);
}

function putEnd(writer: JuteWriter): void {
  writer.int(OpCode.error).bool(true).int(-1);
}

/** Writes the response to a transaction in which one step failed. */
export function putFailed(
  writer: JuteWriter,
  steps: readonly Step[],
  { failed, code }: { readonly failed: number; readonly code: number },
): void {
  for (const at of steps.keys()) {
    const error = at < failed ? Code.ok : at === failed ? code : Code.runtimeInconsistency;
    writer.int(OpCode.error).bool(false).int(error).int(error);
  }
  putEnd(writer);
}

function opOf(step: Step): number {
  if (step.type === 'create' && step.mode.kind === 'container') return OpCode.createContainer;
  return step.type === 'delete container' ? OpCode.delete : OpCode[step.type];
}

const RETURNS_STAT: ReadonlySet<number> = new Set([OpCode.create2, OpCode.createContainer, OpCode.setData]);
