import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import type { ProcessService } from '@queuelock/harness/services/service';
import type { Clients } from './clients.ts';
import type { Operator } from './operator.ts';
import { OwnServer } from './own-server.ts';

/** A server of its own for a suite, an operator at it, and two ways to it that each test has for itself. */
export interface Bench<C> {
  readonly server: ProcessService;
  readonly operator: Operator;
  readonly proxies: [TcpProxy, TcpProxy, ...TcpProxy[]];
  /** Closed after each test, before the ways to the server go. */
  readonly clients: C;
  /** The two ways. */
  readonly hosts: () => string[];
}

/** Defines the hooks of the suite in which it is called. */
export function benchOf<C extends Pick<Clients, 'close'>>(clients: C): Bench<C> {
  const own = new OwnServer();
  let proxies: Bench<C>['proxies'];

  beforeEach(async () => {
    proxies = [await startProxy(own.server.endpoint), await startProxy(own.server.endpoint)];
  });
  afterEach(async () => {
    await Promise.all(proxies.map((proxy) => proxy.heal()));
    await clients.close();
    await Promise.all(proxies.map((proxy) => proxy.stop()));
  });

  return {
    clients,
    hosts: () => proxies.map(({ endpoint }) => endpoint),
    get server() {
      return own.server;
    },
    get operator() {
      return own.operator;
    },
    get proxies() {
      return proxies;
    },
  };
}
