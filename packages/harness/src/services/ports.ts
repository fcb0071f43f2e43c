import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

// Below the range that kernels give to outgoing connections (Linux from 32768, others from 49152): a port from in
// there could be taken by any client of the machine while its server is being restarted.
const FIRST = 20_000;
const LAST = 32_000;

/**
 * Ports on 127.0.0.1 that nobody listened on a moment ago. Somebody else may still take one before you do, so whoever
 * binds them has to try again with others when that fails.
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
