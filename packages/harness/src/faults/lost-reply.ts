import type { ProxyConnection } from './connection.ts';

export interface LostReply {
  /** Resolves when the request goes by; from then on its connection hears nothing. */
  readonly seen: Promise<ProxyConnection>;
  /** Resolves when the first bytes of an answer were swallowed: the server has done what was asked. Rejects when the connection closes before that. */
  readonly lost: Promise<ProxyConnection>;
}

/** SETTINGS, PING, WINDOW_UPDATE (RFC 9113, section 6). */
const CONTROL_FRAMES = [4, 6, 8];
const FRAME_HEADER_BYTES = 9;

/** Whether this is only what a server of HTTP/2 says of the connection, which it may do before it has looked at a request. */
function isOfHttp2Itself(chunk: Buffer): boolean {
  let at = 0;
  while (at + FRAME_HEADER_BYTES <= chunk.length && CONTROL_FRAMES.includes(chunk[at + 3]!))
    at += FRAME_HEADER_BYTES + chunk.readUIntBE(at, 3);
  return at > 0 && at === chunk.length;
}

/** A trap for one exchange: it lets the request through and takes the reply away. */
export class ReplyTrap implements LostReply {
  readonly seen: Promise<ProxyConnection>;
  readonly lost: Promise<ProxyConnection>;
  /** Whether this chunk of a client is the request that the trap is for. */
  readonly matches: (chunk: Buffer) => boolean;
  #spring!: (connection: ProxyConnection, loss: Promise<ProxyConnection>) => void;

  constructor(matches: (chunk: Buffer) => boolean) {
    this.matches = matches;
    const caught = new Promise<{ connection: ProxyConnection; loss: Promise<ProxyConnection> }>((resolve) => {
      this.#spring = (connection, loss) => resolve({ connection, loss });
    });
    this.seen = caught.then(({ connection }) => connection);
    this.lost = caught.then(({ loss }) => loss);
    // A test that waits for something else need not wait for it.
    this.lost.catch(() => undefined);
  }

  /** The request goes by on this connection, now. */
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
