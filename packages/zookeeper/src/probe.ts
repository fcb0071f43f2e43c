import { connect, type Socket } from 'node:net';

/** What a look at the servers found: one accepts connections, all refuse them, or none answered in time. */
export type Reach = 'accepts' | 'refuse' | 'silent';

/**
 * Looks whether any server accepts connections. The C client is not let loose on servers that all refuse: with an even
 * number of them it tries again without a pause and keeps a core busy.
 */
export function probe(addresses: readonly string[], withinMs: number): Promise<Reach> {
  return new Promise((resolve) => {
    const sockets = new Set<Socket>();
    const settle = (reach: Reach): void => {
      clearTimeout(timer);
      for (const socket of sockets) socket.destroy();
      resolve(reach);
    };
    const timer = setTimeout(settle, withinMs, 'silent');
    for (const address of new Set(addresses)) {
      const colon = address.lastIndexOf(':');
      const socket = connect({ host: address.slice(0, colon), port: Number(address.slice(colon + 1)) });
      sockets.add(socket);
      socket.once('connect', () => settle('accepts'));
      socket.on('error', () => {
        sockets.delete(socket);
        if (sockets.size === 0) settle('refuse');
      });
    }
  });
}
