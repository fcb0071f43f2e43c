// Simulates servers that fail all requests of their clients.
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';

/** How a server fails: it closes each connection, refuses connections, or sends no responses. */
export const FAILURES = ['accepts and closes', 'refuses', 'is silent'] as const;
export type Failure = (typeof FAILURES)[number];

/** Proxies to one server, which simulate servers that fail all requests. */
export class FailingServers {
  readonly #proxies: TcpProxy[] = [];
  readonly #closing = createServer((socket) => socket.destroy());
  readonly #server: string;
  #closes = false;

  private constructor(server: string) {
    this.#server = server;
  }

  static async to(server: string, count: number): Promise<FailingServers> {
    const ways = new FailingServers(server);
    ways.#closing.listen(0, '127.0.0.1');
    await once(ways.#closing, 'listening');
    for (let i = 0; i < count; i += 1) ways.#proxies.push(await startProxy(() => ways.#target));
    return ways;
  }

  get hosts(): readonly string[] {
    return this.#proxies.map(({ endpoint }) => endpoint);
  }

  get ports(): readonly number[] {
    return this.hosts.map((host) => Number(host.split(':')[1]));
  }

  begin(failure: Failure): void {
    this.#closes = failure === 'accepts and closes';
    for (const proxy of this.#proxies) {
      if (failure === 'refuses') proxy.refuse();
      if (failure === 'is silent') proxy.toClient.blackhole();
      proxy.cut();
    }
  }

  async stop(): Promise<void> {
    for (const proxy of this.#proxies) await proxy.stop();
    this.#closing.close();
  }

  get #target(): string {
    return this.#closes ? `127.0.0.1:${(this.#closing.address() as AddressInfo).port}` : this.#server;
  }
}
