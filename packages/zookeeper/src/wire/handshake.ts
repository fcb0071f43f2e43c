import { LENGTH_BYTES, framed } from './frames.ts';
import { JuteReader } from './jute-read.ts';
import { JuteWriter } from './jute-write.ts';

/** The id and the password of a session, as the protocol contains them. */
export interface WireSession {
  readonly id: bigint;
  /** The password of the session: 16 bytes. */
  readonly password: Buffer;
}

/** The first message of a client. */
export interface Hello {
  /** The id of the last transaction that the client has seen. A server that is behind it closes the connection. */
  readonly lastZxid: bigint;
  readonly timeoutMs: number;
  /** The session to resume. Without one, the server creates a new session. */
  readonly session: WireSession | undefined;
}

/** The first message of the server. */
export interface Welcome {
  /** The granted timeout. 0 or less means that the session does not exist. */
  readonly timeoutMs: number;
  readonly session: WireSession;
  /** Whether the server is read-only: it has no quorum and refuses writes. */
  readonly isReadOnly: boolean;
}

const PROTOCOL_VERSION = 0;
const PASSWORD_BYTES = 16;

/** Encodes the first message (`ConnectRequest`). It does not allow a read-only server, which then closes the connection. */
export function helloFrame({ lastZxid, timeoutMs, session }: Hello): Buffer {
  const writer = new JuteWriter();
  writer.int(LENGTH_BYTES).int(PROTOCOL_VERSION).long(lastZxid).int(timeoutMs);
  writer.long(session?.id ?? 0n).buffer(session?.password ?? Buffer.alloc(PASSWORD_BYTES));
  return framed(writer.bool(false).bytes());
}

/**
 * Parses the first message of the server.
 * @throws {WireError} when it is malformed
 */
export function welcomeOf(frame: Buffer): Welcome {
  const reader = new JuteReader(frame);
  reader.int();
  const timeoutMs = reader.int();
  const id = reader.long();
  const password = Buffer.from(reader.buffer() ?? Buffer.alloc(PASSWORD_BYTES));
  // Servers before 3.4 do not send whether they are read-only.
  const isReadOnly = reader.left > 0 && reader.bool();
  return { timeoutMs, session: { id, password }, isReadOnly };
}
