import type { Socket } from 'node:net';

/**
 * Resets a connection. After an end was sent, libuv refuses a reset and Node does not close the socket, so the socket is closed normally then.
 */
export function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
