import { Redis } from 'ioredis';
import type { ProcessService } from '@queuelock/harness/services/service';

/** Sends a command to a server on a new connection, and returns the reply as text. */
export async function requested(
  { endpoint }: ProcessService,
  [command = '', ...args]: readonly string[],
): Promise<string> {
  const [host = '', port] = endpoint.split(':');
  const connection = new Redis({ host, port: Number(port), lazyConnect: true, retryStrategy: () => null });
  await connection.connect();
  try {
    return String(await connection.call(command, ...args));
  } finally {
    connection.disconnect();
  }
}
