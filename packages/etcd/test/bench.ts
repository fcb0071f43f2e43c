import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import type { ProcessService } from '@queuelock/harness/services/service';
import type { Clients } from './clients.ts';
import type { Operator } from './operator.ts';
import { OwnServer } from './own-server.ts';

/**
 * A test environment. The server and the operator, a client that reads and changes keys directly, serve a whole suite. The two proxies to the server
 * are new for each test.
 */
export interface Bench<C> {
  readonly server: ProcessService;
  readonly operator: Operator;
  readonly proxies: [TcpProxy, TcpProxy, ...TcpProxy[]];
  /** The backends and sessions that a test opens. They are closed after each test, before the two proxies to the server are stopped. */
  readonly clients: C;
  /** Returns the endpoints of the two proxies to the server. */
  readonly hosts: () => string[];
}

/** Creates a server with an operator and two proxies, and registers Mocha hooks in the suite that calls it. */
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
