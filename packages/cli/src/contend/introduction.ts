import { Socket } from 'node:net';
import type { Environment } from '../config/file.ts';

/** Variable with the secret for the contender's proxy; see `arena/contender-proxy.ts`. */
const VARIABLE = 'QUEUELOCK_PROXY_SECRET';

/** Environment of a contender whose connections begin with this secret. */
export function introducing(secret: string): Readonly<Record<string, string>> {
  return { [VARIABLE]: secret };
}

/**
 * Makes every connection of this process begin with the secret of its environment, because the proxy relays nothing for processes
 * that do not know it. The client libraries have no hook for this, so the secret is written as soon as a socket begins to
 * connect.
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
