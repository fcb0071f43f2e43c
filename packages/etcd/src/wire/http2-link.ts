import { connect, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import { startTimeout } from '../base/timeout.ts';
import { STREAMS_BEFORE_SETTINGS } from '../frames/protocol.ts';
import { described, dial, unrefWhileIdle } from './dial.ts';
import { Http2Call } from './http2-call.ts';
import type {
  Address,
  Call,
  CallHeaders,
  CallListener,
  CallOptions,
  Link,
  LinkListener,
  LinkOptions,
} from './link.ts';

// The memory limit of an HTTP/2 connection, in megabytes. It includes requests that wait to be sent, and
// above it Node refuses further requests.
const MAX_MEMORY = 512;

/** One connection to a member over `node:http2`. */
export class Http2Link implements Link {
  readonly #session: ClientHttp2Session;
  readonly #socket: Socket;
  readonly #listener: LinkListener;
  readonly #pings: NodeJS.Timeout;
  /** Whether a timeout of the connection is running: while the connection is being established, or until the response to a ping. */
  #isWaiting = false;
  #stopWaiting: () => void;
  #open = 0;
  #retired = false;
  #isMade = false;
  #failure: Error | undefined;

  constructor(address: Address, options: LinkOptions, listener: LinkListener) {
    this.#listener = listener;
    this.#socket = dial(address);
    this.#session = connect(`${address.tls ? 'https' : 'http'}://${address.authority}`, {
      createConnection: () => this.#socket,
      settings: { enablePush: false, initialWindowSize: options.window },
      maxSessionMemory: MAX_MEMORY,
      peerMaxConcurrentStreams: STREAMS_BEFORE_SETTINGS,
    });
    unrefWhileIdle(this.#socket, () => this.#open === 0);
    address.order?.follow(this.#socket, () => this.#isMade);
    this.#stopWaiting = this.#startTimeout(options.connectTimeoutMs, 'no connection');
    this.#pings = setInterval(() => this.#ping(options.pingTimeoutMs), options.pingEveryMs).unref();
    this.#session.once('connect', () => this.#session.setLocalWindowSize(4 * options.window));
    this.#listen();
  }

  get isUsable(): boolean {
    return !this.#retired && !this.#session.closed && !this.#session.destroyed;
  }

  /** Whether the connection and all of its calls have ended. */
  get isOver(): boolean {
    return this.#session.destroyed;
  }

  /** Whether the member has responded once. Until then, the timeout of the connection applies, not those of the calls that wait for it. */
  get isMade(): boolean {
    return this.#isMade;
  }

  get failure(): Error {
    const when = this.#isMade ? '' : ' before HTTP/2 began';
    return this.#failure ?? new Error(`the connection was closed${when}`);
  }

  open(options: CallOptions, listener: CallListener): Call {
    return new Http2Call(this, options, listener);
  }

  /** Opens the HTTP/2 stream of a call. When the call has ended, it must call the method `closed`. Throws if the connection has ended. */
  request(headers: CallHeaders): ClientHttp2Stream {
    const stream = this.#session.request(headers);
    this.#open += 1;
    if (this.#open === 1) this.#session.ref();
    return stream;
  }

  /** Records that a call on the connection has ended. It must be called once for each call. */
  closed(): void {
    this.#open -= 1;
    if (this.#open > 0) return;
    this.#session.unref();
    if (this.#retired) this.destroy();
  }

  /** Stops accepting further calls on the connection. Calls in flight continue. */
  retire(): void {
    if (this.#stopCalls() && this.#open === 0) this.destroy();
  }

  destroy(failure?: Error): void {
    if (failure) this.#failure = failure;
    this.#stopCalls();
    afterReading(() => {
      this.#session.destroy();
      // `session.destroy` first waits until Node has written its GOAWAY frame. While the network drops
      // packets, this never happens. So the socket is destroyed too.
      this.#socket.destroy();
    });
  }

  /** Stops accepting further calls on the connection. Returns false if it has stopped before. */
  #stopCalls(): boolean {
    if (this.#retired) return false;
    this.#retired = true;
    this.#listener.onRetired();
    return true;
  }

  #listen(): void {
    const session = this.#session;
    session.once('remoteSettings', () => {
      this.#isMade = true;
      this.#stopWaiting();
      this.#listener.onReady();
    });
    // Adds this listener ahead of that of Node's HTTP/2 session, which ends the calls. So the calls report the error of the socket.
    this.#socket.prependListener('error', (error: Error) => {
      this.#failure = described(error);
    });
    session.on('error', (error: Error) => {
      if (!this.#socket.errored) this.#failure = described(error);
    });
    session.once('goaway', (code: number) => {
      this.#failure = new Error(`the member ended the connection (GOAWAY ${code})`);
      this.retire();
    });
    session.once('close', () => {
      this.#stopWaiting();
      clearInterval(this.#pings);
      this.#socket.destroy();
      this.retire();
      this.#listener.onClose(this.failure);
    });
  }

  #ping(timeoutMs: number): void {
    if (this.#open === 0 || this.#isWaiting || this.#session.destroyed) return;
    this.#stopWaiting = this.#startTimeout(timeoutMs, 'no response to a ping');
    this.#session.ping(this.#stopWaiting);
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

/**
 * Runs the task after Node has processed the bytes from the member. Node calls the listeners of a connection
 * while it processes them. If a listener then destroyed Node's HTTP/2 session, Node would free it and
 * continue to read from it (github.com/nodejs/node/pull/64166 and issues/38964).
 */
function afterReading(task: () => void): void {
  setImmediate(task);
}
