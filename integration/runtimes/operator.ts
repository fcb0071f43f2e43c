import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
// eslint-disable-next-line no-restricted-imports -- this is a test file, which no package exports
import { FarProxies } from '../../packages/zookeeper/test/far-proxy.ts';
import type { Order } from './job.ts';
import type { Site } from './servers.ts';

/**
 * An HTTP service for programs on other runtimes. It removes and lists entries as an operator's own tools
 * would.
 */
export class OperatorService {
  readonly #server: Server;
  readonly #proxies = new FarProxies();

  static async start(site: Site): Promise<OperatorService> {
    const service = new OperatorService(site);
    service.#server.listen(0, '127.0.0.1');
    await once(service.#server, 'listening');
    return service;
  }

  private constructor(site: Site) {
    this.#server = createServer((request, response) => {
      this.#obey(request, site).then(
        (result) => response.end(JSON.stringify(result ?? null)),
        (error: unknown) => response.writeHead(500).end(String(error)),
      );
    });
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}/`;
  }

  stop(): void {
    this.#proxies.stop();
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #obey(request: IncomingMessage, site: Site): Promise<unknown> {
    const order = JSON.parse(await text(request)) as Order;
    if (order.type === 'evict') return site.evict(order.key);
    if (order.type === 'entries') return site.entries(order.queue);
    return this.#proxies.send(order);
  }
}
