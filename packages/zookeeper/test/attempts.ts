import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { NativeClient, NativeConfig } from '../src/native/addon.ts';
import type { Bench } from './bench.ts';

/** The moments at which a client of this process let the addon connect, and to whom. */
export interface Attempt {
  readonly at: number;
  readonly servers: readonly string[];
}

/**
 * Notes what is handed to the C client from now on. It tells nobody how often it connects, and a server that refuses cannot count: but a
 * handle that knows one server connects once, and a second time when that fails; then it pauses for a third of its session timeout.
 */
export function noteAttempts(bench: Bench): readonly Attempt[] {
  const Addon = createRequire(import.meta.url)('zookeeper') as { readonly prototype: NativeClient };
  const { prototype } = Addon;
  const attempts: Attempt[] = [];
  // oxlint-disable-next-line typescript/unbound-method -- is given its `this` below
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

/** A server that counts who connects. */
export interface CountingServer {
  readonly endpoint: string;
  readonly connections: readonly number[];
}

/** One that accepts, and does this to each connection. */
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

/** As one without a quorum does, or a load balancer that has nobody behind it. */
export const closes = (socket: Socket): void => {
  socket.destroy();
};

export const saysNothing = (socket: Socket): void => {
  socket.resume();
};

/** The most of these moments that lie in one second. */
export function mostInASecond(moments: readonly number[]): number {
  const counts = moments.map((from) => moments.filter((at) => at >= from && at < from + 1_000).length);
  return Math.max(0, ...counts);
}
