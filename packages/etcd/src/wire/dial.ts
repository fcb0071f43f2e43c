import { connect as connectTcp, isIP, type OnReadOpts, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Address } from './link.ts';

/**
 * Opens a socket to a member.
 * @param onread makes the socket read into one buffer, which it reuses, instead of emitting chunks of data
 */
export function dial({ host, port, order, tls }: Address, onread?: OnReadOpts): Socket {
  const where = { host, port, ...(order && { lookup: order.lookup }), ...(onread && { onread }) };
  if (!tls) return connectTcp(where);
  const servername = isIP(host) === 0 ? { servername: host } : {};
  const socket = connectTls({ ...tls(), ...servername, ...where, ALPNProtocols: ['h2'] });
  // Disables TLS renegotiation, because HTTP/2 forbids it (RFC 9113, section 9.2.1).
  socket.disableRenegotiation();
  return socket;
}

/**
 * Stops the socket from keeping the process alive while `isIdle` returns true. Node creates a new handle for each address of the host that it tries.
 * A new handle keeps the process alive, so this function unreferences each of them.
 */
export function unrefWhileIdle(socket: Socket, isIdle: () => boolean): void {
  const unref = (): void => void (isIdle() && socket.unref());
  socket.on('connectionAttempt', unref).once('connect', unref);
  unref();
}

/**
 * Returns the error of a failed connection, with a message. If a host name has several addresses, Node's `AggregateError` has an empty message. The
 * message is then made from the errors of all addresses.
 */
export function described(error: Error): Error {
  if (!(error instanceof AggregateError) || error.message !== '') return error;
  return new Error(error.errors.map(String).join('; '), { cause: error });
}
