import type { Socket } from 'node:net';

/** Resets a connection. libuv refuses to after an end was sent, and Node then forgets to close the socket: it is just closed. */
export function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}
