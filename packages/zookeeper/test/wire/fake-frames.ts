import { framed } from '../../src/wire/frames.ts';
import { JuteWriter } from '../../src/wire/jute-write.ts';

export interface Reply {
  readonly xid: number;
  readonly zxid?: bigint;
  readonly err?: number;
  readonly body?: (writer: JuteWriter) => unknown;
}

/** Encodes a reply without its length. */
export function replyFrame({ xid, zxid = 1n, err = 0, body }: Reply): Buffer {
  const writer = new JuteWriter().int(xid).long(zxid).int(err);
  body?.(writer);
  return writer.bytes();
}

/** Encodes the metadata of a node that the transaction `czxid` created. */
export function putStat(writer: JuteWriter, czxid: bigint): JuteWriter {
  const times = writer.long(czxid).long(czxid).long(0n).long(0n);
  return times.int(0).int(0).int(0).long(0n).int(0).int(0).long(czxid);
}

/** Encodes an event without its length: 1 created, 2 deleted, 3 changed, 4 child. */
export function eventFrame(type: number, path: string): Buffer {
  return replyFrame({ xid: -1, zxid: -1n, body: (writer) => writer.int(type).int(3).text(path) });
}

/** Encodes the server's first message without its length. */
export function welcomeFrame({ timeoutMs, id, isReadOnly = false }: FakeWelcome): Buffer {
  return new JuteWriter().int(0).int(timeoutMs).long(id).buffer(Buffer.alloc(16, 7)).bool(isReadOnly).bytes();
}

export interface FakeWelcome {
  readonly timeoutMs: number;
  readonly id: bigint;
  readonly isReadOnly?: boolean;
}

export function withLength(frame: Uint8Array): Buffer {
  return framed(Buffer.concat([Buffer.alloc(4), frame]));
}
