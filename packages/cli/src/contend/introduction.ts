import { Socket } from 'node:net';
import type { Environment } from '../config/file.ts';

/** Environment variable with the secret for the contender's proxy; see `arena/contender-proxy.ts`. */
const VARIABLE = 'QUEUELOCK_PROXY_SECRET';

/** Returns the environment of a contender whose connections must begin with this secret. */
export function introducing(secret: string): Readonly<Record<string, string>> {
  return { [VARIABLE]: secret };
}

/**
 * Makes every connection of this process begin with the secret from its environment. The proxy relays nothing
 * for connections without the secret. The client libraries have no hook for this, so the secret is written as
 * soon as a socket begins to connect.
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
