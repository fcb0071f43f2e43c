import { Socket, connect } from 'node:net';
import type { Flow } from './flow.ts';
import { Pump } from './pump.ts';
import { reset } from './reset.ts';

export interface ConnectionOptions {
  readonly id: number;
  readonly client: Socket;
  /**
   * Address to which the proxy connects, or an open connection to the server. A socket must be made with
   * `allowHalfOpen`.
   */
  readonly target: { readonly host: string; readonly port: number } | Socket;
  readonly toServer: Flow;
  readonly toClient: Flow;
  readonly onClientData: (chunk: Buffer, connection: ProxyConnection) => void;
  readonly onServerData: (chunk: Buffer, connection: ProxyConnection) => void;
}

/** One connection of a client to the proxy, together with the proxy's connection to the server. */
export class ProxyConnection {
  /** Number of the connection among all connections of the proxy, from 1. */
  readonly id: number;
  /** Resolves when the sockets to the client and to the server are closed. */
  readonly closed: Promise<void>;
  readonly #sockets: readonly Socket[];
  readonly #replies: Pump;

  constructor({ id, client, target, toServer, toClient, onClientData, onServerData }: ConnectionOptions) {
    this.id = id;
    // The sockets are half-open on both sides, so that the proxy can forward the end of one direction while
    // the other one continues.
    const server =
      target instanceof Socket ? target : connect({ ...target, allowHalfOpen: true, noDelay: true });
    const onBroken = (): void => this.cut();
    const requests = new Pump({
      from: client,
      to: server,
      flow: toServer,
      onData: (chunk) => onClientData(chunk, this),
      onBroken,
    });
    this.#replies = new Pump({
      from: server,
      to: client,
      flow: toClient,
      onData: (chunk) => onServerData(chunk, this),
      onBroken,
    });
    this.#sockets = [client, server];
    // A socket that fails also closes. The `Pump` that reads the socket forwards the error to the other side.
    for (const socket of this.#sockets) socket.on('error', () => undefined);
    this.closed = Promise.all(this.#sockets.map(closing)).then(() => {
      requests.stop();
      this.#replies.stop();
    });
  }

  /** Resets both sides at once, as a failure of the network between them. */
  cut(): void {
    for (const socket of this.#sockets) reset(socket);
  }

  /**
   * Drops all data from the server from now on, while the client's data is still forwarded. The connection
   * stays like this until it is reset. `onLoss` is called with the dropped data.
   */
  swallowReplies(onLoss: (chunk: Buffer) => void): void {
    this.#replies.swallow(onLoss);
  }
}

// Resolves when a socket is closed. Does not use events.once(), which rejects on 'error'.
function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}
