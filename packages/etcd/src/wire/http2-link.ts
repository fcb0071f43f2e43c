import {
  connect,
  type ClientHttp2Session,
  type ClientHttp2Stream,
  type OutgoingHttpHeaders,
} from 'node:http2';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { afterPatience } from '../base/patience.ts';

/** A member, as it is reached. */
export interface Address {
  readonly host: string;
  readonly port: number;
  /** `host:port`, as the member is told it is called. */
  readonly authority: string;
  /** With TLS only: returns authorities and certificates of the moment. */
  readonly tls: (() => Pick<ConnectionOptions, 'ca' | 'cert' | 'key'>) | undefined;
}

/** What a connection may do, and how long it is believed in. */
export interface LinkOptions {
  readonly connectWithinMs: number;
  /** While a call is open. */
  readonly pingEveryMs: number;
  readonly pingAnswerMs: number;
  /** How much of one answer may be on its way, in bytes; of all together four times as much. */
  readonly window: number;
}

/** Who hears of a connection. */
export interface LinkListener {
  /** The member speaks HTTP/2. */
  readonly onReady: () => void;
  /** It takes no further calls; those that are under way may still end well. */
  readonly onRetired: () => void;
  /** All of it is gone. */
  readonly onClose: (failure: Error) => void;
}

// Requests that wait to be written count, in megabytes; above it Node refuses further ones.
const MAX_MEMORY = 512;

/** One connection to a member, from the dial to its end. Keeps the process alive while a call is open. */
export class Http2Link {
  readonly #session: ClientHttp2Session;
  readonly #socket: Socket;
  readonly #listener: LinkListener;
  readonly #pulse: NodeJS.Timeout;
  /** For the connection, or for the answer to a ping. */
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
    });
    this.#session.unref();
    this.#stopWaiting = this.#patience(options.connectWithinMs, 'no connection');
    this.#pulse = setInterval(() => this.#ping(options.pingAnswerMs), options.pingEveryMs).unref();
    this.#session.once('connect', () => this.#session.setLocalWindowSize(4 * options.window));
    this.#listen();
  }

  /** Whether a further call can be made. */
  get isUsable(): boolean {
    return !this.#retired && !this.#session.closed && !this.#session.destroyed;
  }

  /** Whether all of it is gone, calls that are under way included. */
  get isOver(): boolean {
    return this.#session.destroyed;
  }

  /** Whether the member has answered on it: how long that may take is up to the connection itself, not to those who wait for it. */
  get isMade(): boolean {
    return this.#isMade;
  }

  /** Why it ended. */
  get failure(): Error {
    const when = this.#isMade ? '' : ' before HTTP/2 began';
    return this.#failure ?? new Error(`the connection was closed${when}`);
  }

  /** A new call, which is sent as soon as there is a connection; `closed` follows its end. Throws when the connection has ended meanwhile. */
  request(headers: OutgoingHttpHeaders): ClientHttp2Stream {
    const stream = this.#session.request(headers);
    this.#open += 1;
    if (this.#open === 1) this.#session.ref();
    return stream;
  }

  /** To be called once for each call, when it has closed. */
  closed(): void {
    this.#open -= 1;
    if (this.#open > 0) return;
    this.#session.unref();
    if (this.#retired) this.destroy();
  }

  /** No further calls; those that are under way go on. */
  retire(): void {
    if (this.#takeNoMore() && this.#open === 0) this.destroy();
  }

  /** Ends all of it. */
  destroy(failure?: Error): void {
    if (failure) this.#failure = failure;
    this.#takeNoMore();
    afterReading(() => {
      this.#session.destroy();
      // The session would say goodbye first, for as long as packets vanish.
      this.#socket.destroy();
    });
  }

  /** Whether it did until now. */
  #takeNoMore(): boolean {
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
    // Before the session hears of it and ends the calls.
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
      clearInterval(this.#pulse);
      this.#socket.destroy();
      this.retire();
      this.#listener.onClose(this.failure);
    });
  }

  #ping(withinMs: number): void {
    if (this.#open === 0 || this.#isWaiting || this.#session.destroyed) return;
    this.#stopWaiting = this.#patience(withinMs, 'no answer to a ping');
    this.#session.ping(this.#stopWaiting);
  }

  #patience(ms: number, failure: string): () => void {
    this.#isWaiting = true;
    const cancel = afterPatience(ms, () => this.destroy(new Error(`${failure} within ${ms} ms`)));
    return () => {
      this.#isWaiting = false;
      cancel();
    };
  }
}

/**
 * Runs it when Node is done with what the member has sent. What is called by an event of a connection, or awaits one, runs in the middle of
 * that, and Node then frees a call that is ended there and goes on reading it (github.com/nodejs/node/pull/64166 and issues/38964).
 */
function afterReading(task: () => void): void {
  setImmediate(task);
}

/** Where a name stands for several addresses, the error has no message of its own. */
function described(error: Error): Error {
  if (!(error instanceof AggregateError) || error.message !== '') return error;
  return new Error(error.errors.map(String).join('; '), { cause: error });
}

function dial({ host, port, tls }: Address): Socket {
  if (!tls) return connectTcp({ host, port });
  const servername = isIP(host) === 0 ? { servername: host } : {};
  return connectTls({ ...tls(), ...servername, host, port, ALPNProtocols: ['h2'] });
}
