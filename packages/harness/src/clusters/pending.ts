import { connect, type Socket } from 'node:net';
import { reset } from '../faults/reset.ts';
import type { Node } from './links.ts';

/** A connection that `from` wants to `to`. */
export interface Call {
  readonly from: Node;
  readonly to: Node;
  /** The caller's side, with `allowHalfOpen`. */
  readonly client: Socket;
  readonly target: { readonly host: string; readonly port: number };
  /** Called before the first byte is carried. */
  readonly onConnected?: () => void;
  /** Ends the caller's side when the other side refuses. Without it the caller gets a reset. */
  readonly onRefused?: () => void;
}

/** A call whose other side does not know of it yet. */
export class Pending {
  readonly call: Call;
  readonly #heard: Buffer[] = [];
  readonly #hear = (chunk: Buffer): void => void this.#heard.push(chunk);
  readonly #leave: () => void;
  #server: Socket | undefined;

  /** `onGone`: the caller gave up. */
  constructor(call: Call, onGone: () => void) {
    this.call = call;
    this.#leave = (): void => {
      this.hangUp();
      call.client.destroy();
      onGone();
    };
    call.client.on('error', () => undefined);
    // Only who reads hears the end.
    call.client.on('data', this.#hear).on('end', this.#leave).on('close', this.#leave);
    call.client.resume();
  }

  /** Calls the other side; does nothing while that goes on. */
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

  /** Forgets the other side, which may be dialled again. */
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

  /** Gives the caller's socket back with all that came so far still to be read; call `resume` on it. */
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
