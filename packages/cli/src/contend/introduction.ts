import { Socket } from 'node:net';
import type { Environment } from '../config/file.ts';

/**
 * Environment variable with the secret that a contender sends to its proxy; see `arena/contender-proxy.ts`.
 */
const VARIABLE = 'QUEUELOCK_PROXY_SECRET';

/**
 * Returns the environment variable that makes a contender send the secret of its proxy at the start of every
 * connection.
 */
export function introducing(secret: string): Readonly<Record<string, string>> {
  return { [VARIABLE]: secret };
}

/**
 * Makes this process send the secret from its environment at the start of every connection. The demo's proxy
 * relays only connections that begin with the secret. The client libraries offer no hook for this. So every
 * socket writes the secret as soon as it begins to connect.
 */
export function introduceConnections(env: Environment = process.env): void {
  const secret = env[VARIABLE];
  if (secret === undefined) return;
  const { connect } = Socket.prototype as { readonly connect: (...to: unknown[]) => Socket };
  Object.assign(Socket.prototype, {
    connect(this: Socket, ...to: unknown[]): Socket {
      connect.apply(this, to);
      this.write(secret);
      return this;
    },
  });
}
