import type { Socket } from 'node:net';

/**
 * Resets a connection. After this side has sent its end, libuv refuses a reset and Node would leave the
 * socket open. In that case the socket is closed normally.
 */
export function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
