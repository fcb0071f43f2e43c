import type { Socket } from 'node:net';
import { startTimeout } from '../base/timeout.ts';
import { Connection } from '../frames/connection.ts';
import type { ConnectionListener } from '../frames/control-frames.ts';
import { ERROR_CODES } from '../frames/protocol.ts';
import { resetAll } from '../frames/reset-all.ts';
import { described, dial, unrefWhileIdle } from './dial.ts';
import type { Address, Call, CallListener, CallOptions, Link, LinkListener, LinkOptions } from './link.ts';
import { SocketCall } from './socket-call.ts';

// Size of the buffer into which a socket reads, in bytes.
const READ_BUFFER = 65_536;

/** One connection to a member over a plain socket, with this package's own HTTP/2 framing (folder `frames`). */
export class SocketLink implements Link, ConnectionListener {
  readonly connection: Connection;
  readonly #socket: Socket;
  readonly #listener: LinkListener;
  readonly #pings: NodeJS.Timeout;
  /** Whether a timeout of the connection is running: while the connection is being established, or until the response to a ping. */
  #isWaiting = false;
  #stopWaiting: () => void;
  #open = 0;
  #isRetired = false;
  #isMade = false;
  #isOver = false;
  #failure: Error | undefined;

  constructor(address: Address, options: LinkOptions, listener: LinkListener) {
    this.#listener = listener;
    const write = (bytes: Buffer): void => void this.#socket.write(bytes);
    this.connection = new Connection({ write, window: options.window }, this);
    this.#socket = dial(address, {
      buffer: Buffer.allocUnsafeSlow(READ_BUFFER),
      callback: (length, buffer) => {
        this.connection.receive(buffer as Buffer, length);
        return true;
      },
    });
    this.#socket.setNoDelay(true);
    unrefWhileIdle(this.#socket, () => this.#open === 0);
    address.order?.follow(this.#socket, () => this.#isMade);
    this.#stopWaiting = this.#startTimeout(options.connectTimeoutMs, 'no connection');
    this.#pings = setInterval(() => this.#ping(options.pingTimeoutMs), options.pingEveryMs).unref();
    this.#listen(address.tls ? 'secureConnect' : 'connect');
  }

  get isUsable(): boolean {
    return !this.#isRetired;
  }

  /** Whether the connection and all of its calls have ended. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether the member has responded once. Until then, the timeout of the connection applies, not those of the calls that wait for it. */
  get isMade(): boolean {
    return this.#isMade;
  }

  get failure(): Error {
    const when = this.#isMade ? '' : ' before HTTP/2 began';
    return this.#failure ?? new Error(`the connection was closed${when}`);
  }

  open({ headers }: CallOptions, listener: CallListener): Call {
    if (this.#isRetired) throw this.failure;
    this.#open += 1;
    if (this.#open === 1) this.#socket.ref();
    const call = new SocketCall(this, headers, listener);
    if (this.connection.isExhausted) this.retire();
    return call;
  }

  /** Records that a call on the connection has ended. It must be called once for each call. */
  closed(): void {
    this.#open -= 1;
    if (this.#open > 0) return;
    this.#socket.unref();
    if (this.#isRetired) this.destroy();
  }

  /** Stops accepting further calls on the connection. Calls in flight continue. */
  retire(): void {
    if (this.#stopCalls() && this.#open === 0) this.destroy();
  }

  destroy(failure?: Error): void {
    if (failure) this.#failure = failure;
    this.#stopCalls();
    this.connection.close(ERROR_CODES.NO_ERROR);
    // Destroys the socket, and with it the calls, in a later task. The code that called `destroy` may be the listener of one of these calls.
    setImmediate(() => this.#socket.destroy());
  }

  onReady(): void {
    this.#isMade = true;
    this.#stopWaiting();
    this.#listener.onReady();
  }

  onPong(): void {
    this.#stopWaiting();
  }

  onGoaway(code: number): void {
    this.#failure = new Error(`the member ended the connection (GOAWAY ${code})`);
    this.retire();
  }

  onViolation(error: Error): void {
    this.destroy(error);
  }

  /** Stops accepting further calls on the connection. Returns false if it has stopped before. */
  #stopCalls(): boolean {
    if (this.#isRetired) return false;
    this.#isRetired = true;
    this.#listener.onRetired();
    return true;
  }

  #listen(connected: 'connect' | 'secureConnect'): void {
    const socket = this.#socket;
    socket.once(connected, () => this.connection.start());
    socket.on('error', (error: Error) => {
      this.#failure = described(error);
    });
    // When the member stops sending, the socket is closed, because no unsent request could get a reply.
    socket.once('end', () => socket.destroy());
    socket.once('close', () => {
      this.#isOver = true;
      this.#stopWaiting();
      clearInterval(this.#pings);
      this.retire();
      try {
        resetAll(this.connection.end(), ERROR_CODES.CANCEL);
      } finally {
        this.#listener.onClose(this.failure);
      }
    });
  }

  #ping(timeoutMs: number): void {
    if (this.#open === 0 || this.#isWaiting || this.#isOver) return;
    this.#stopWaiting = this.#startTimeout(timeoutMs, 'no response to a ping');
    this.connection.ping();
  }

  #startTimeout(ms: number, failure: string): () => void {
    this.#isWaiting = true;
    // The timeout does not keep the process alive. During a call, the socket does.
    const cancel = startTimeout(ms, () => this.destroy(new Error(`${failure} within ${ms} ms`)), false);
    return () => {
      this.#isWaiting = false;
      cancel();
    };
  }
}
