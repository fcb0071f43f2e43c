import type { Socket } from 'node:net';

/**
 * The server's side of SOCKS 5 (RFC 1928), as far as etcd and Java use it: no authentication, CONNECT to an address. It routes a
 * member's connections to other members through its own proxy. Both programs take a proxy from their environment, and the proxy
 * learns the target before the first byte.
 */

const VERSION = 5;
const CONNECT = 1;
const ADDRESS_BYTES = new Map([
  [1, 4],
  [4, 16],
]);

/** Reads the handshake up to the request and resolves with the requested port. Rejects on anything else. */
export function readSocksRequest(socket: Socket): Promise<number> {
  return new Promise((resolve, reject) => {
    let heard: Buffer = Buffer.alloc(0);
    let greeted = false;
    const hear = (chunk: Buffer): void => {
      heard = Buffer.concat([heard, chunk]);
      try {
        if (!greeted && isGreeting(heard)) {
          heard = heard.subarray(2 + heard[1]!);
          greeted = true;
          socket.write(Buffer.from([VERSION, 0]));
        }
        const port = greeted ? requestedPort(heard) : undefined;
        if (port === undefined) return;
        // Pauses the socket, because no other data may precede the response.
        socket.off('data', hear).pause();
        resolve(port);
      } catch (error) {
        reject(new Error('SOCKS: not spoken here', { cause: error }));
      }
    };
    socket.on('data', hear);
    for (const ending of ['end', 'close'])
      socket.once(ending, () => reject(new Error('SOCKS: closed before it asked for anything')));
  });
}

/** Returns the response to a request: connected, or refused by the target. */
export function socksAnswer(connected: boolean): Buffer {
  return Buffer.from([VERSION, connected ? 0 : 5, 0, 1, 0, 0, 0, 0, 0, 0]);
}

function isGreeting(heard: Buffer): boolean {
  if (heard.length > 0 && heard[0] !== VERSION) throw new Error(`SOCKS: version ${String(heard[0])}`);
  return heard.length >= 2 && heard.length >= 2 + heard[1]!;
}

function requestedPort(heard: Buffer): number | undefined {
  if (heard.length < 4) return undefined;
  const length = ADDRESS_BYTES.get(heard[3]!);
  if (heard[1] !== CONNECT || length === undefined)
    throw new Error(`SOCKS: command ${heard[1]!} to an address of type ${heard[3]!} is not served`);
  return heard.length < 6 + length ? undefined : heard.readUInt16BE(4 + length);
}
