import type { Get, JuteReader } from './jute-read.ts';
import type { JuteWriter } from './jute-write.ts';
import { OpCode } from './op-code.ts';
import { OPEN, getAcl, getCreationZxid, getStat, putAcls, type Acl, type WireStat } from './records.ts';
import { nothing, requestOf, type WireRequest } from './request.ts';

/** A node to be created. */
export interface NewNode {
  readonly path: string;
  readonly data: Uint8Array;
  /** The kind of the node: a value of `CreateFlag`. */
  readonly flags: number;
  /** The access control list. Default: all permissions for all clients. */
  readonly acl?: readonly Acl[];
}

/** The `flags` of a request that creates a node. */
export const CreateFlag = {
  persistent: 0,
  ephemeral: 1,
  'persistent-sequential': 2,
  'ephemeral-sequential': 3,
  container: 4,
  'persistent-with-ttl': 5,
} as const;

/** Creates a node. The reply is its path, to which the server has appended a number if the flags are sequential. */
export function create(node: NewNode): WireRequest<string> {
  const isContainer = node.flags === CreateFlag.container;
  const type = isContainer ? OpCode.createContainer : OpCode.create;
  return requestOf({ type, body: (writer) => putCreate(writer, node), answer: getText });
}

/** Creates a node. The reply also contains the id of the transaction. */
export function create2(node: NewNode): WireRequest<Made> {
  const type = node.flags === CreateFlag.container ? OpCode.createContainer : OpCode.create2;
  return requestOf({ type, body: (writer) => putCreate(writer, node), answer: getMade });
}

/** Creates a node that the server removes when it has had no children and no change for `ttlMs`. */
export function createTtl(node: NewNode, ttlMs: bigint): WireRequest<Made> {
  const body = (writer: JuteWriter): void => {
    putCreate(writer, node);
    writer.long(ttlMs);
  };
  return requestOf({ type: OpCode.createTTL, body, answer: getMade });
}

/** A created node. */
export interface Made {
  readonly path: string;
  /** The id of the transaction that created the node. */
  readonly czxid: bigint;
}

/** Deletes a node. Version -1 matches any version. */
export function remove(path: string, version: number): WireRequest<undefined> {
  const body = (writer: JuteWriter): unknown => writer.text(path).int(version);
  return requestOf({ type: OpCode.delete, body, answer: nothing });
}

export function setData(path: string, data: Uint8Array, version: number): WireRequest<WireStat> {
  const body = (writer: JuteWriter): unknown => writer.text(path).buffer(data).int(version);
  return requestOf({ type: OpCode.setData, body, answer: getStat });
}

/** Reads a node. With `watch`, one event reports the next change of an existing node. */
export function getData(path: string, watch: boolean): WireRequest<Content> {
  const response = (reader: JuteReader): Content => ({ data: reader.buffer(), stat: getStat(reader) });
  return observeOptions(OpCode.getData, { path, watch }, response);
}

/** The content of a node. `data` is a view of the received bytes. */
export interface Content {
  readonly data: Buffer | undefined;
  readonly stat: WireStat;
}

/** Reads the metadata of a node. With `watch`, one event reports the next change, also of a node that does not exist. */
export function exists(path: string, watch: boolean): WireRequest<WireStat> {
  return observeOptions(OpCode.exists, { path, watch }, getStat);
}

/** Lists the children in no particular order. With `watch`, one event reports the next child that is created or deleted. */
export function getChildren(path: string, watch: boolean): WireRequest<readonly string[]> {
  return observeOptions(OpCode.getChildren, { path, watch }, (reader) => reader.list(getText));
}

/** Lists the children. The reply also contains the node's metadata. */
export function getChildren2(path: string, watch: boolean): WireRequest<Children> {
  const response = (reader: JuteReader): Children => ({
    names: reader.list(getText),
    stat: getStat(reader),
  });
  return observeOptions(OpCode.getChildren2, { path, watch }, response);
}

export interface Children {
  readonly names: readonly string[];
  readonly stat: WireStat;
}

/** Lists the paths of the session's ephemeral nodes that begin with the prefix. Requires ZooKeeper 3.6. */
export function getEphemerals(prefix: string): WireRequest<readonly string[]> {
  const answer: Get<readonly string[]> = (reader) => reader.list(getText);
  return requestOf({ type: OpCode.getEphemerals, body: (writer) => writer.text(prefix), answer });
}

/** Brings the server up to date with the leader. */
export function sync(path: string): WireRequest<string> {
  return requestOf({ type: OpCode.sync, body: (writer) => writer.text(path), answer: getText });
}

export function getACL(path: string): WireRequest<readonly Acl[]> {
  const answer: Get<readonly Acl[]> = (reader) => reader.list(getAcl);
  return requestOf({ type: OpCode.getACL, body: (writer) => writer.text(path), answer });
}

export function putCreate(writer: JuteWriter, { path, data, flags, acl = OPEN }: NewNode): void {
  writer.text(path).buffer(data);
  putAcls(writer, acl);
  writer.int(flags);
}

export function getMade(reader: JuteReader): Made {
  return { path: reader.text(), czxid: getCreationZxid(reader) };
}

export function getText(reader: JuteReader): string {
  return reader.text();
}

function observeOptions<T>(
  type: number,
  { path, watch }: { readonly path: string; readonly watch: boolean },
  answer: Get<T>,
): WireRequest<T> {
  return requestOf({ type, body: (writer) => writer.text(path).bool(watch), answer });
}
