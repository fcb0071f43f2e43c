import { Socket } from 'node:net';
import type { Environment } from '../config/file.ts';

/** Where a contender finds what its way to the store asks for; see `arena/way.ts`. */
const VARIABLE = 'QUEUELOCK_WAY';

/** For the environment of a contender whose connections begin with this text. */
export function introducing(secret: string): Readonly<Record<string, string>> {
  return { [VARIABLE]: secret };
}

/**
 * Lets every connection of this process begin with the text that its environment has for that: the way to the store relays nothing for
 * processes that do not know it. The client libraries offer no place for it, so it is written as soon as a socket begins to connect.
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
