import { connect, type Socket } from 'node:net';
import { reset } from '../faults/reset.ts';
import type { Node } from './links.ts';

/** A connection from `from` to `to` that was requested. */
export interface Call {
  readonly from: Node;
  readonly to: Node;
  /** Socket of the caller, with `allowHalfOpen`. */
  readonly client: Socket;
  readonly target: { readonly host: string; readonly port: number };
  /** Called before the first byte is transferred. */
  readonly onConnected?: () => void;
  /** Ends the caller's socket when the target refuses. Default: resets it. */
  readonly onRefused?: () => void;
}

/** A connection whose target is not connected yet. */
export class Pending {
  readonly call: Call;
  readonly #heard: Buffer[] = [];
  readonly #hear = (chunk: Buffer): void => void this.#heard.push(chunk);
  readonly #leave: () => void;
  #server: Socket | undefined;

  /** @param onGone called when the caller disconnects */
  constructor(call: Call, onGone: () => void) {
    this.call = call;
    this.#leave = (): void => {
      this.hangUp();
      call.client.destroy();
      onGone();
    };
    call.client.on('error', () => undefined);
    // The end of a socket is reported only while it is read.
    call.client.on('data', this.#hear).on('end', this.#leave).on('close', this.#leave);
    call.client.resume();
  }

  /** Connects to the target; does nothing while a connection is in progress. */
  dial(onAnswer: (server: Socket) => void, onRefusal: () => void): void {
    if (this.#server !== undefined) return;
    const server = connect({ ...this.call.target, allowHalfOpen: true, noDelay: true });
    this.#server = server;
    server.once('error', onRefusal);
    server.once('connect', () => {
      server.off('error', onRefusal);
      onAnswer(server);
    });
  }

  /** Drops the connection to the target, which may be dialled again. */
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

  /** Returns the caller's socket with all data so far still unread; call `resume` on it. */
  release(): void {
    this.#silence();
    this.call.client.pause();
    if (this.#heard.length > 0) this.call.client.unshift(Buffer.concat(this.#heard));
    this.call.onConnected?.();
  }

  #silence(): void {
    this.call.client.off('data', this.#hear).off('end', this.#leave).off('close', this.#leave);
  }
}
