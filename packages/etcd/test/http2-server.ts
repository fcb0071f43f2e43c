import {
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';

/** Writes the reply to a call, byte by byte if necessary. */
export type Reply = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

/** A reply to a range request, encoded. It contains only a count of 3. */
export const COUNT_OF_3: Buffer = Buffer.from([0, 0, 0, 0, 2, 0x20, 3]);

/** A member that replies as the test specifies, and not as etcd would. */
export class OddMember {
  readonly sessions: ServerHttp2Session[] = [];
  /** The number of calls so far. */
  calls = 0;
  reply: Reply = () => undefined;
  readonly #server: Http2Server;

  private constructor(server: Http2Server) {
    this.#server = server;
    server.on('session', (session) => this.sessions.push(session));
    server.on('sessionError', () => undefined);
    server.on('stream', (stream, headers) => {
      this.calls += 1;
      stream.on('error', () => undefined);
      stream.resume();
      this.reply(stream, headers);
    });
  }

  static async start(): Promise<OddMember> {
    const server = createServer();
    const member = new OddMember(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return member;
  }

  get endpoint(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): Promise<void> {
    for (const session of this.sessions) session.destroy();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

/** Replies with these chunks, and then this status. */
export function pieces(bytes: readonly Buffer[], trailers: Readonly<Record<string, string>>): Reply {
  return (stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true });
    stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    for (const piece of bytes) stream.write(piece);
    stream.end();
  };
}

/** Replies without a message, with the status in the headers. */
export function only(headers: Readonly<Record<string, string | number>>): Reply {
  return (stream) => stream.respond({ ':status': 200, ...headers }, { endStream: true });
}
