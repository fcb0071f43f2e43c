import { connect, type Socket } from 'node:net';
import { reset } from '../faults/reset.ts';
import type { Node } from './links.ts';

/** A request to connect two parties of the network, from `from` to `to`. */
export interface Call {
  readonly from: Node;
  readonly to: Node;
  /** Socket of the party that connects, opened with `allowHalfOpen`. */
  readonly client: Socket;
  readonly target: { readonly host: string; readonly port: number };
  /** Called when the connection to the target is open, before any data is transferred. */
  readonly onConnected?: () => void;
  /**
   * Called when the target refuses the connection. Without this callback, the socket of the connecting party
   * is reset.
   */
  readonly onRefused?: () => void;
}

/** A connection that a party has opened to the proxy, while the proxy is not yet connected to the target. */
export class Pending {
  readonly call: Call;
  readonly #received: Buffer[] = [];
  readonly #receive = (chunk: Buffer): void => void this.#received.push(chunk);
  readonly #leave: () => void;
  #server: Socket | undefined;

  /** @param onEnd called when the party that connects closes its socket */
  constructor(call: Call, onEnd: () => void) {
    this.call = call;
    this.#leave = (): void => {
      this.hangUp();
      call.client.destroy();
      onEnd();
    };
    call.client.on('error', () => undefined);
    // Reads and buffers the data, because Node reports the end of a socket only while the socket is read.
    call.client.on('data', this.#receive).on('end', this.#leave).on('close', this.#leave);
    call.client.resume();
  }

  /** Begins to connect to the target. Does nothing if a connection to the target is already being made. */
  dial(onResponse: (server: Socket) => void, onRefusal: () => void): void {
    if (this.#server !== undefined) return;
    const server = connect({ ...this.call.target, allowHalfOpen: true, noDelay: true });
    this.#server = server;
    server.once('error', onRefusal);
    server.once('connect', () => {
      server.off('error', onRefusal);
      onResponse(server);
    });
  }

  /** Drops the connection to the target. A later call of `dial` connects again. */
  hangUp(): void {
    this.#server?.on('error', () => undefined).destroy();
    this.#server = undefined;
  }

  refuse(): void {
    this.hangUp();
    this.#silence();
    if (this.call.onRefused === undefined) reset(this.call.client);
    else this.call.onRefused();
  }

  /**
   * Ends the buffering, and puts the data that was buffered back into the paused socket of the caller. The
   * code that next reads from the socket receives all data once it calls `resume`.
   */
  release(): void {
    this.#silence();
    this.call.client.pause();
    if (this.#received.length > 0) this.call.client.unshift(Buffer.concat(this.#received));
    this.call.onConnected?.();
  }

  #silence(): void {
    this.call.client.off('data', this.#receive).off('end', this.#leave).off('close', this.#leave);
  }
}
