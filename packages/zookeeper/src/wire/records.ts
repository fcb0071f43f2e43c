import type { JuteReader } from './jute-read.ts';
import { JuteWriter } from './jute-write.ts';

// The records of zookeeper.jute that several messages share.

/** The metadata of a node (`Stat`). */
export interface WireStat {
  readonly czxid: bigint;
  readonly mzxid: bigint;
  /** Time of the node's creation, by the servers' wall clock in milliseconds. */
  readonly ctime: bigint;
  /** Time of the last write to the node, by the servers' wall clock in milliseconds. */
  readonly mtime: bigint;
  readonly version: number;
  readonly cversion: number;
  readonly aversion: number;
  readonly ephemeralOwner: bigint;
  readonly dataLength: number;
  readonly numChildren: number;
  readonly pzxid: bigint;
}

export function getStat(reader: JuteReader): WireStat {
  return {
    czxid: reader.long(),
    mzxid: reader.long(),
    ctime: reader.long(),
    mtime: reader.long(),
    version: reader.int(),
    cversion: reader.int(),
    aversion: reader.int(),
    ephemeralOwner: reader.long(),
    dataLength: reader.int(),
    numChildren: reader.int(),
    pzxid: reader.long(),
  };
}

/**
 * Reads only the first field of a node's metadata, the id of the transaction that created the node. Skips the
 * other 60 bytes.
 */
export function getCreationZxid(reader: JuteReader): bigint {
  const czxid = reader.long();
  reader.skip(60);
  return czxid;
}

/** An item of an access control list: the permissions of one kind of client. */
export interface Acl {
  /** The sum of 1 read, 2 write, 4 create, 8 delete, 16 administer. */
  readonly perms: number;
  readonly scheme: string;
  readonly id: string;
}

/** All permissions for all clients. */
export const OPEN: readonly Acl[] = [{ perms: 31, scheme: 'world', id: 'anyone' }];

const OPEN_BYTES = new JuteWriter().list(OPEN, putAcl).bytes();

/** Writes an access control list. The default one was encoded when this module was loaded. */
export function putAcls(writer: JuteWriter, acls: readonly Acl[]): void {
  if (acls === OPEN) writer.raw(OPEN_BYTES);
  else writer.list(acls, putAcl);
}

function putAcl(writer: JuteWriter, { perms, scheme, id }: Acl): void {
  writer.int(perms).text(scheme).text(id);
}

export function getAcl(reader: JuteReader): Acl {
  return { perms: reader.int(), scheme: reader.text(), id: reader.text() };
}

/** The header of every message of the server except the first. */
export interface ReplyHeader {
  readonly xid: number;
  /** The id of the last transaction that the server had executed when it sent the message. */
  readonly zxid: bigint;
  readonly err: number;
}

export function getReplyHeader(reader: JuteReader): ReplyHeader {
  return reader.header();
}
