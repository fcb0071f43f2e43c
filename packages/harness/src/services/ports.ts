import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// First port of the range from which ports are chosen. The range ends below the ports that the kernel gives
// to outgoing connections (Linux from 32768, others from 49152). Otherwise an outgoing connection could take
// the port of a server that restarts.
const FIRST = 20_000;
const LAST = 32_000;

/**
 * Returns ports on 127.0.0.1 that were free a moment ago. Another process may take one before they are bound, so a failed bind
 * has to be repeated with other ports.
 */
export async function pickPorts(count: number): Promise<number[]> {
  const found = new Set<number>();
  while (found.size < count) {
    const port = randomInt(FIRST, LAST);
    if (await isFree(port)) found.add(port);
  }
  return [...found];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
