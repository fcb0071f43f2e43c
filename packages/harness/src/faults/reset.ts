import type { Socket } from 'node:net';

/**
 * Resets a connection. After an end was sent libuv refuses to, and Node then does not close the socket: it is closed normally.
 */
export function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
