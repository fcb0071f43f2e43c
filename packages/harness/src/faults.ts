/**
 * Faults of the network between a client and a server, on a TCP proxy in this process: delay, rate, hold, black hole, reset, refusal, and the loss of
 * exactly one reply. The proxy cannot lose single packets. It cannot drop the handshake of a new connection either, because the kernel makes it;
 * `refuse` refuses the connection instead.
 */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { ProxyConnection } from './faults/connection.ts';
import { Flow } from './faults/flow.ts';
import { ReplyTrap, type LostReply } from './faults/lost-reply.ts';
import { splitEndpoint } from './services/endpoint.ts';
import { pickPorts } from './services/ports.ts';

export { freeze, thaw } from './faults/freeze.ts';
export type { Flow, LostReply, ProxyConnection };

/** Listens on a free port of 127.0.0.1 and forwards to `target` (`host:port`; a function is called for each connection). */
export async function startProxy(target: string | (() => string)): Promise<TcpProxy> {
  const targetOf = typeof target === 'string' ? () => target : target;
  splitEndpoint(targetOf());
  for (let attempt = 1; ; attempt += 1) {
    const [port] = await pickPorts(1);
    const proxy = new TcpProxy(targetOf, port!);
    try {
      await proxy.accept();
      return proxy;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE' || attempt === 5) throw error;
    }
  }
}

export class TcpProxy {
  /** Address for clients: `127.0.0.1:port`. It never changes, also while connections are refused. */
  readonly endpoint: string;
  /** Faults and counters of the data that clients send to the server. */
  readonly toServer: Flow = new Flow();
  /** Faults and counters of the data that the server sends to clients. */
  readonly toClient: Flow = new Flow();
  /** Called with each chunk from a client before it is forwarded, so that a fault set in this callback applies to the chunk. */
  onClientData: ((chunk: Buffer, connection: ProxyConnection) => void) | undefined;
  /** Called with each chunk from the server before it is forwarded. */
  onServerData: ((chunk: Buffer, connection: ProxyConnection) => void) | undefined;
  /** Number of connections that the proxy has accepted so far. */
  accepted = 0;
  readonly #targetOf: () => string;
  readonly #connections = new Set<ProxyConnection>();
  readonly #traps: ReplyTrap[] = [];
  #listener: Server | undefined;

  constructor(targetOf: () => string, port: number) {
    this.#targetOf = targetOf;
    this.endpoint = `127.0.0.1:${port}`;
  }

  /** The connections of clients to the proxy that are open now. */
  get connections(): readonly ProxyConnection[] {
    return [...this.#connections];
  }

  /** Resets every open connection. Clients may connect again at once. */
  cut(): void {
    for (const connection of this.#connections) connection.cut();
  }

  /** Refuses new connections with ECONNREFUSED; open ones stay. */
  refuse(): void {
    this.#listener?.close();
    this.#listener = undefined;
  }

  /** Listens for new connections, for instance after a call of `refuse`. */
  async accept(): Promise<void> {
    if (this.#listener !== undefined) return;
    const listener = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#connect(client));
    this.#listener = listener;
    listener.listen({ ...splitEndpoint(this.endpoint), exclusive: true });
    try {
      await once(listener, 'listening');
    } catch (error) {
      this.#listener = undefined;
      throw error;
    }
  }

  /** Removes the faults of both directions and accepts connections again. */
  async heal(): Promise<void> {
    this.toServer.heal();
    this.toClient.heal();
    await this.accept();
  }

  /**
   * Loses the reply to one request of a client. The proxy forwards the next chunk of a client that satisfies the predicate (default: any chunk). From
   * then on it drops all data of the server on that connection, until the connection is reset. Requests that share the connection lose their replies
   * too.
   */
  loseNextReply(predicate: (chunk: Buffer) => boolean = () => true): LostReply {
    const trap = new ReplyTrap(predicate);
    this.#traps.push(trap);
    return trap;
  }

  /** Resets every connection and stops listening. Resolves when no connection is open. */
  async stop(): Promise<void> {
    this.refuse();
    this.cut();
    await Promise.all(this.connections.map(({ closed }) => closed));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  #connect(client: Socket): void {
    this.accepted += 1;
    const connection = new ProxyConnection({
      id: this.accepted,
      client,
      target: splitEndpoint(this.#targetOf()),
      toServer: this.toServer,
      toClient: this.toClient,
      onClientData: (chunk, from) => this.#clientData(chunk, from),
      onServerData: (chunk, from) => this.onServerData?.(chunk, from),
    });
    this.#connections.add(connection);
    void connection.closed.then(() => this.#connections.delete(connection));
  }

  #clientData(chunk: Buffer, connection: ProxyConnection): void {
    this.onClientData?.(chunk, connection);
    const trap = this.#traps.findIndex(({ matches }) => matches(chunk));
    if (trap >= 0) this.#traps.splice(trap, 1)[0]!.spring(connection);
  }
}
