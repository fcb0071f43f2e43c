import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { splitEndpoint } from '../../src/services/endpoint.ts';
import { until } from '../../src/services/until.ts';

/** A server that sends back and records what it receives. */
export class Echo {
  readonly received: string[] = [];
  readonly sockets: Socket[] = [];
  readonly #server: Server = createServer({ allowHalfOpen: true }, (socket) => {
    this.sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => this.received.push(chunk.toString()));
    socket.pipe(socket);
  });

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  /** Resolves when the server has received the whole text from its clients. */
  async untilReceived(text: string): Promise<void> {
    await eventually(`the server hears ${text}`, () => this.received.join('').includes(text));
  }
}

/** A client of the echo server. */
export class Caller {
  readonly socket: Socket;
  received = '';
  /** Resolves when the connection has ended, with its error code or `closed`. */
  readonly ending: Promise<string>;

  constructor(endpoint: string) {
    this.socket = connect({ ...splitEndpoint(endpoint), allowHalfOpen: true, noDelay: true });
    this.socket.on('data', (chunk) => {
      this.received += chunk.toString();
    });
    this.ending = new Promise((resolve) => {
      this.socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
      this.socket.once('close', () => resolve('closed'));
    });
  }

  say(text: string): void {
    this.socket.write(text);
  }

  async untilReceived(text: string): Promise<void> {
    await eventually(`the client hears ${text}`, () => this.received.includes(text));
  }

  /** Sends a text to the server, and waits until the server has sent it back. */
  async echo(text: string): Promise<void> {
    this.say(text);
    await this.untilReceived(text);
  }
}

export async function eventually(what: string, is: () => boolean): Promise<void> {
  await until(() => (is() ? Promise.resolve() : Promise.reject(new Error('not yet'))), {
    what,
    withinMs: 30_000,
  });
}
