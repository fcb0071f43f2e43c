import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { TLSSocket, createSecureContext, type SecureContext } from 'node:tls';

/**
 * Exchanges the messages in plain text that precede TLS in a protocol. Resolves when the client begins TLS.
 */
export type Prelude = (socket: Socket) => Promise<void>;

/**
 * A server that accepts TLS connections and serves nothing. A client that sends data after the handshake has
 * accepted its certificate.
 */
export interface TlsServer {
  readonly port: number;
  /** Number of connections on which a client began a TLS handshake. */
  readonly handshakes: number;
  /** Resolves when the first bytes arrive from a client after a TLS handshake. */
  readonly trusted: Promise<void>;
  /** Whether any bytes have arrived from a client after a TLS handshake. */
  readonly isTrusted: boolean;
  close(): Promise<void>;
}

export const DIRECT: Prelude = async () => undefined;

const SSL_REQUEST_BYTES = 8;

/** The exchange of PostgreSQL before TLS: the client requests TLS, and the server agrees. */
export const POSTGRES: Prelude = async (socket) => {
  await bytes(socket, SSL_REQUEST_BYTES);
  socket.write('S');
};

const SSL_PACKET_BYTES = 36;
const CAPABILITIES = { low: 0x8a09, high: 0x0008 } as const;

/**
 * The exchange of MySQL before TLS: the server greets and offers TLS, and the client requests it in a short
 * packet.
 */
export const MYSQL: Prelude = async (socket) => {
  const greeting = Buffer.concat([
    Buffer.of(10),
    Buffer.from('8.0.36\0'),
    Buffer.from([1, 0, 0, 0]),
    Buffer.from('12345678\0'),
    Buffer.of(CAPABILITIES.low & 0xff, CAPABILITIES.low >> 8),
    Buffer.of(45, 2, 0),
    Buffer.of(CAPABILITIES.high & 0xff, CAPABILITIES.high >> 8),
    Buffer.of(21),
    Buffer.alloc(10),
    Buffer.from('123456789012\0'),
    Buffer.from('mysql_native_password\0'),
  ]);
  socket.write(Buffer.concat([Buffer.of(greeting.length, 0, 0, 0), greeting]));
  await bytes(socket, SSL_PACKET_BYTES);
};

/** Reads `count` bytes from the socket, and leaves the bytes after them in the socket. */
async function bytes(socket: Socket, count: number): Promise<void> {
  for (;;) {
    const read = socket.read(count) as Buffer | null;
    if (read !== null) return;
    await once(socket, 'readable');
  }
}

/** Starts a TLS server on the loopback address of this machine. */
export async function startTlsServer(
  { cert, key }: { readonly cert: Buffer; readonly key: Buffer },
  prelude: Prelude,
): Promise<TlsServer> {
  const sockets = new Set<Socket>();
  const secureContext = createSecureContext({ cert, key });
  let handshakes = 0;
  let isTrusted = false;
  let trust: () => void;
  const trusted = new Promise<void>((resolve) => {
    trust = resolve;
  });
  const serve = async (socket: Socket): Promise<void> => {
    await prelude(socket);
    handshakes += 1;
    readFrom(secured(socket, secureContext), () => {
      isTrusted = true;
      trust();
    });
  };
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => socket.destroy()));
    serve(socket).catch(() => socket.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    get handshakes() {
      return handshakes;
    },
    trusted,
    get isTrusted() {
      return isTrusted;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      await once(server.close(), 'close');
    },
  };
}

function secured(socket: Socket, secureContext: SecureContext): TLSSocket {
  return new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: ['h2'] });
}

function readFrom(socket: TLSSocket, onData: () => void): void {
  socket.on('error', () => socket.destroy());
  socket.on('data', onData);
}
