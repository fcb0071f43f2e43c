import type { ProxyConnection } from './connection.ts';

export interface LostReply {
  /** Resolves when the request goes by; from then on its connection hears nothing. */
  readonly seen: Promise<ProxyConnection>;
  /** Resolves when the first bytes of an answer were swallowed. Rejects when the connection closes before that. */
  readonly lost: Promise<ProxyConnection>;
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
      connection.swallowReplies(() => resolve(connection));
      void connection.closed.then(() => reject(new Error('the connection closed before a reply came')));
    });
    this.#spring(connection, loss);
  }
}
