import type { Socket } from 'node:net';

/**
 * The server's side of SOCKS 5 (RFC 1928), as far as etcd and Java use it: no authentication, CONNECT to an address. It routes a member's connections
 * to other members through a proxy for that member. etcd and Java take a proxy from their environment, and the proxy learns the target before the
 * first byte.
 */

const VERSION = 5;
const CONNECT = 1;
const ADDRESS_BYTES = new Map([
  [1, 4],
  [4, 16],
]);

/**
 * Reads a SOCKS 5 handshake, including the client's request to connect. Resolves with the requested port.
 * Rejects on any other data.
 */
export function readSocksRequest(socket: Socket): Promise<number> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0);
    let greeted = false;
    const receive = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      try {
        if (!greeted && isGreeting(received)) {
          received = received.subarray(2 + received[1]!);
          greeted = true;
          socket.write(Buffer.from([VERSION, 0]));
        }
        const port = greeted ? requestedPort(received) : undefined;
        if (port === undefined) return;
        // Pauses the socket, so that it keeps data that arrives before the next listener is added.
        socket.off('data', receive).pause();
        resolve(port);
      } catch (error) {
        reject(new Error('SOCKS: not spoken here', { cause: error }));
      }
    };
    socket.on('data', receive);
    for (const ending of ['end', 'close'])
      socket.once(ending, () => reject(new Error('SOCKS: closed before it asked for anything')));
  });
}

/** Returns the response to a request: connected, or refused by the target. */
export function socksResponse(connected: boolean): Buffer {
  return Buffer.from([VERSION, connected ? 0 : 5, 0, 1, 0, 0, 0, 0, 0, 0]);
}

function isGreeting(received: Buffer): boolean {
  if (received.length > 0 && received[0] !== VERSION)
    throw new Error(`SOCKS: version ${String(received[0])}`);
  return received.length >= 2 && received.length >= 2 + received[1]!;
}

function requestedPort(received: Buffer): number | undefined {
  if (received.length < 4) return undefined;
  const length = ADDRESS_BYTES.get(received[3]!);
  if (received[1] !== CONNECT || length === undefined)
    throw new Error(`SOCKS: command ${received[1]!} to an address of type ${received[3]!} is not served`);
  return received.length < 6 + length ? undefined : received.readUInt16BE(4 + length);
}
