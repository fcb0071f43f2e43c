import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
} from 'node:http2';
import type { AddressInfo } from 'node:net';

/** A function that replies to one call on its HTTP/2 stream. */
export type Reply = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

/** An encoded reply to a range request, which contains only the count 3. */
export const COUNT_OF_3: Buffer = Buffer.from([0, 0, 0, 0, 2, 0x20, 3]);

/** An HTTP/2 server in place of an etcd member, which replies as the test specifies. */
export class OddMember {
  readonly sessions: ServerHttp2Session[] = [];
  /** The number of calls that the server has received so far. */
  calls = 0;
  reply: Reply = () => undefined;
  readonly #server: Http2Server | Http2SecureServer;
  /**
   * All HTTP/2 sessions of the server, including those that a test has removed from `sessions`. `stop` ends them, because Node's server may not
   * notice the end of a session after a GOAWAY.
   */
  readonly #all: ServerHttp2Session[] = [];

  private constructor(server: Http2Server | Http2SecureServer) {
    this.#server = server;
    server.on('session', (session) => {
      this.sessions.push(session);
      this.#all.push(session);
    });
    server.on('sessionError', () => undefined);
    server.on('stream', (stream, headers) => {
      this.calls += 1;
      stream.on('error', () => undefined);
      stream.resume();
      this.reply(stream, headers);
    });
  }

  /** Starts the server, with TLS if the options contain a certificate. */
  static async start(
    options: ServerOptions & { readonly cert?: Buffer; readonly key?: Buffer } = {},
  ): Promise<OddMember> {
    const server = options.cert ? createSecureServer(options) : createServer(options);
    const member = new OddMember(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return member;
  }

  get endpoint(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): Promise<void> {
    for (const session of this.#all) session.destroy();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

/**
 * Returns a reply that consists of the given chunks and then the given trailers, which contain the status of
 * the call.
 */
export function pieces(bytes: readonly Buffer[], trailers: Readonly<Record<string, string>>): Reply {
  return (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    for (const piece of bytes) stream.write(piece);
    stream.end();
  };
}

/** Returns a reply without messages. Its headers contain the status of the call. */
export function only(headers: Readonly<Record<string, string | number>>): Reply {
  return (stream) => stream.respond({ ':status': 200, ...headers }, { endStream: true });
}
