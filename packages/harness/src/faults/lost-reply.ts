import type { ProxyConnection } from './connection.ts';

export interface LostReply {
  /**
   * Resolves when the proxy forwards the request whose reply is to be lost. From then on the connection
   * transfers nothing to the client.
   */
  readonly seen: Promise<ProxyConnection>;
  /**
   * Resolves when the proxy has dropped the first bytes of the reply, so the server has processed the request. Rejects when the connection closes
   * before that.
   */
  readonly lost: Promise<ProxyConnection>;
}

/** Types of control frames: SETTINGS, PING and WINDOW_UPDATE (RFC 9113, section 6). */
const CONTROL_FRAMES = [4, 6, 8];
const FRAME_HEADER_BYTES = 9;

/** Returns whether a chunk contains only control frames of HTTP/2, which a server may send before it reads a request. */
function isOfHttp2Itself(chunk: Buffer): boolean {
  let at = 0;
  while (at + FRAME_HEADER_BYTES <= chunk.length && CONTROL_FRAMES.includes(chunk[at + 3]!))
    at += FRAME_HEADER_BYTES + chunk.readUIntBE(at, 3);
  return at > 0 && at === chunk.length;
}

/** Forwards one request and drops its reply. */
export class ReplyTrap implements LostReply {
  readonly seen: Promise<ProxyConnection>;
  readonly lost: Promise<ProxyConnection>;
  /** Returns whether a chunk of data from a client contains the request whose reply is to be lost. */
  readonly matches: (chunk: Buffer) => boolean;
  #spring!: (connection: ProxyConnection, loss: Promise<ProxyConnection>) => void;

  constructor(matches: (chunk: Buffer) => boolean) {
    this.matches = matches;
    const caught = new Promise<{ connection: ProxyConnection; loss: Promise<ProxyConnection> }>((resolve) => {
      this.#spring = (connection, loss) => resolve({ connection, loss });
    });
    this.seen = caught.then(({ connection }) => connection);
    this.lost = caught.then(({ loss }) => loss);
    // Marks the rejection as handled, because a test may not await it.
    this.lost.catch(() => undefined);
  }

  /**
   * Drops all further replies on this connection. Called when the connection transfers the request whose
   * reply is to be lost.
   */
  spring(connection: ProxyConnection): void {
    const loss = new Promise<ProxyConnection>((resolve, reject) => {
      connection.swallowReplies((chunk) => {
        if (!isOfHttp2Itself(chunk)) resolve(connection);
      });
      void connection.closed.then(() => reject(new Error('the connection closed before a reply came')));
    });
    this.#spring(connection, loss);
  }
}
