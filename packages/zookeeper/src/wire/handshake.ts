import { LENGTH_BYTES, framed } from './frames.ts';
import { JuteReader } from './jute-read.ts';
import { JuteWriter } from './jute-write.ts';

/** A session, as the wire knows it. */
export interface WireSession {
  readonly id: bigint;
  /** Sixteen bytes. */
  readonly password: Buffer;
}

/** What a client says first. */
export interface Hello {
  /** Of the last transaction that it has seen: a server that is behind it closes the connection. */
  readonly lastZxid: bigint;
  readonly timeoutMs: number;
  /** Without one a new session is asked for. */
  readonly session: WireSession | undefined;
}

/** What the server says first. */
export interface Welcome {
  /** Granted; 0 or less: there is no such session. */
  readonly timeoutMs: number;
  readonly session: WireSession;
  /** The server has no quorum and takes no writes. */
  readonly isReadOnly: boolean;
}

const PROTOCOL_VERSION = 0;
const PASSWORD_BYTES = 16;

/** The frame of a hello (`ConnectRequest`). Read-only servers are not wanted, and such a one closes the connection. */
export function helloFrame({ lastZxid, timeoutMs, session }: Hello): Buffer {
  const writer = new JuteWriter();
  writer.int(LENGTH_BYTES).int(PROTOCOL_VERSION).long(lastZxid).int(timeoutMs);
  writer.long(session?.id ?? 0n).buffer(session?.password ?? Buffer.alloc(PASSWORD_BYTES));
  return framed(writer.bool(false).bytes());
}

/** @throws {WireError} */
export function welcomeOf(frame: Buffer): Welcome {
  const reader = new JuteReader(frame);
  reader.int();
  const timeoutMs = reader.int();
  const id = reader.long();
  const password = Buffer.from(reader.buffer() ?? Buffer.alloc(PASSWORD_BYTES));
  // Servers before 3.4 say nothing of it.
  const isReadOnly = reader.left > 0 && reader.bool();
  return { timeoutMs, session: { id, password }, isReadOnly };
}
