import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { NativeClient, NativeConfig } from '../src/native/addon.ts';
import type { Bench } from './bench.ts';

/** An attempt to connect: when a lock client of this process made the addon connect, and to which servers. */
export interface Attempt {
  readonly at: number;
  readonly servers: readonly string[];
}

/**
 * Records each later call by which this process makes the C client connect. The C client does not report its connections, and a test server that
 * refuses connections cannot count them. A handle (connection object) of the C client connects to its one server once, and a second time if that
 * fails. After that it waits for a third of its session timeout.
 */
export function noteAttempts(bench: Bench): readonly Attempt[] {
  const Addon = createRequire(import.meta.url)('zookeeper') as { readonly prototype: NativeClient };
  const { prototype } = Addon;
  const attempts: Attempt[] = [];
  // oxlint-disable-next-line typescript/unbound-method -- it is called with `this` below
  const { init } = prototype;
  prototype.init = function (this: NativeClient, config: NativeConfig): unknown {
    attempts.push({ at: performance.now(), servers: config.connect.split(',') });
    return init.call(this, config);
  };
  bench.keep(undefined, () => {
    prototype.init = init;
  });
  return attempts;
}

/** A server that counts connections. */
export interface CountingServer {
  readonly endpoint: string;
  readonly connections: readonly number[];
}

/** Starts a server that accepts connections and runs `treat` on each. */
export async function serverThat(bench: Bench, treat: (socket: Socket) => void): Promise<CountingServer> {
  const connections: number[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    connections.push(performance.now());
    sockets.add(socket.on('error', () => undefined));
    socket.once('close', () => sockets.delete(socket));
    treat(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  bench.keep(server, () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { endpoint: `127.0.0.1:${(server.address() as AddressInfo).port}`, connections };
}

/** Closes the connection, as a server without a quorum does, or a load balancer without a backend. */
export const closes = (socket: Socket): void => {
  socket.destroy();
};

export const staysSilent = (socket: Socket): void => {
  socket.resume();
};

/** Returns the largest number of the given moments that lie within one second. */
export function maxPerSecond(moments: readonly number[]): number {
  const counts = moments.map((from) => moments.filter((at) => at >= from && at < from + 1_000).length);
  return Math.max(0, ...counts);
}
