import { startProxy, type TcpProxy } from '../../../integration/faults.ts';
import type { ProcessService } from '../../../integration/services/service.ts';
import type { Clients } from './clients.ts';
import { Operator } from './operator.ts';
import { startOwnServer } from './own-server.ts';

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
  let server: ProcessService;
  let operator: Operator;
  let proxies: Bench<C>['proxies'];

  before(async () => {
    server = await startOwnServer();
    operator = new Operator(server.endpoint);
  });
  after(async () => {
    operator.close();
    await server.stop();
  });
  beforeEach(async () => {
    proxies = [await startProxy(server.endpoint), await startProxy(server.endpoint)];
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
      return server;
    },
    get operator() {
      return operator;
    },
    get proxies() {
      return proxies;
    },
  };
}
