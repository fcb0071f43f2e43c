import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { checkedOptions, type KnownOptions } from '@queuelock/core/backend';
import { networkOf, type ConnectionFacts } from './limits/client-id.ts';

/** A function that responds to web requests. */
export type Handler = (request: Request, connection: ConnectionFacts) => Promise<Response>;

/** Address and connection limits of the server. */
export interface ServeOptions {
  readonly handle: Handler;
  /** Port on which the server listens. Default 0: any free port. */
  readonly port?: number;
  /** Host on which the server listens. Default `127.0.0.1`: other machines cannot connect. */
  readonly host?: string;
  /** Largest number of open connections. A further connection is closed at once. Default 4,000. */
  readonly connections?: number;
  /**
   * Largest number of open connections of one remote address, or of the first 64 bits of an IPv6 address.
   * Default 1,000, because all clients of a proxy have the proxy's address.
   */
  readonly connectionsPerAddress?: number;
}

/** A server that listens for connections. */
export interface Served extends AsyncDisposable {
  /** URL for a browser on this machine, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** Closes the server and all its connections. Resolves when the port is free. */
  close(): Promise<void>;
}

const OPTIONS: KnownOptions<ServeOptions> = {
  handle: 'function',
  port: 'number',
  host: 'string',
  connections: 'number',
  connectionsPerAddress: 'number',
};

// Limits how long a client may keep a connection that sends its request slowly, or not at all.
const TIMEOUTS = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 5_000 };

/**
 * Serves a handler over HTTP/1.1. Limits the number of connections and the time that a request may take to arrive. Rejects when
 * it cannot listen on the port.
 */
export async function serve(options: ServeOptions): Promise<Served> {
  const checked = checkedOptions('options of serve', options, OPTIONS);
  const { handle, port = 0, host = '127.0.0.1' } = checked;
  const { connections = 4_000, connectionsPerAddress = 1_000 } = checked;
  const server = createServer(TIMEOUTS, nodeListener(handle));
  server.maxConnections = connections;
  server.on('connection', limitByAddress(connectionsPerAddress));
  server.listen(port, host);
  await once(server, 'listening');
  const { port: actual } = server.address() as AddressInfo;
  async function close(): Promise<void> {
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${String(actual)}`;
  return { url, port: actual, close, [Symbol.asyncDispose]: close };
}

/**
 * Returns a listener that closes a connection if its remote address already has `max` open ones, before
 * anything is read from it.
 */
function limitByAddress(max: number): (socket: Socket) => void {
  const open = new Map<string, number>();
  return (socket) => {
    const address = networkOf(socket.remoteAddress ?? '');
    const count = (open.get(address) ?? 0) + 1;
    open.set(address, count);
    socket.on('close', () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    });
    if (count > max) socket.destroy();
  };
}

/**
 * Converts a handler to a listener of node:http and of frameworks that build on it. The listener may be
 * mounted below a path, as with `app.use('/queuelock', …)` in Express: the handler gets the whole path. A
 * body parser may run before it: the handler gets the parsed body.
 */
export function nodeListener(handle: Handler): RequestListener {
  return (incoming, outgoing) => {
    void reply(handle, incoming, outgoing);
  };
}

// One error for all responses that cannot be sent, because creating an error for each would cost more than
// most responses.
const ENDED = new Error('the connection or the response has ended');

async function reply(handle: Handler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const connectionClosed = new AbortController();
  outgoing.on('close', () => connectionClosed.abort(ENDED));
  // A broken connection ends the response, and there is no client left to notify.
  outgoing.on('error', () => undefined);
  try {
    const { remoteAddress } = incoming.socket;
    const response = await handle(toRequest(incoming, connectionClosed.signal), { remoteAddress, incoming });
    // The client may still be sending a body that was refused, so the connection ends with the response.
    if (!incoming.complete) outgoing.setHeader('connection', 'close');
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    // The headers of a stream are sent at once, so that the page knows that the stream is open. Other headers
    // are sent with the body.
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) outgoing.flushHeaders();
    await sendBody(response.body, outgoing);
    outgoing.end();
  } catch {
    // The body of the response failed before its end. So the connection is cut, and the client retries.
    outgoing.destroy();
  }
}

function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const { method = 'GET', headers } = incoming;
  const url = originalUrlOf(incoming);
  const pairs = Object.entries(headers).flatMap(([name, values]) =>
    [values ?? []].flat().map((value): [string, string] => [name, value]),
  );
  const hasBody = method !== 'GET' && method !== 'HEAD';
  // Puts a fixed host into the URL of the request. The client chooses the text of the path, and must not be
  // able to name another host by it.
  const address = new URL(url.startsWith('/') ? `http://localhost${url}` : 'http://localhost/');
  return new Request(address, {
    method,
    headers: pairs,
    signal,
    ...(hasBody ? { body: bodyOf(incoming), duplex: 'half' } : {}),
  });
}

/** Returns the whole path. Express, Connect and Fastify remove the mount path of a listener from `url`. */
function originalUrlOf(incoming: IncomingMessage): string {
  const { url = '/', originalUrl } = incoming as IncomingMessage & { readonly originalUrl?: unknown };
  return typeof originalUrl === 'string' ? originalUrl : url;
}

/** Returns the body of the request, also if a body parser has already read it. */
function bodyOf(incoming: IncomingMessage): ReadableStream<Uint8Array> | string | Uint8Array {
  const { body } = incoming as IncomingMessage & { readonly body?: unknown };
  if (!incoming.readableDidRead) return Readable.toWeb(incoming) as ReadableStream<Uint8Array>;
  if (typeof body === 'string' || body instanceof Uint8Array) return body;
  return body === undefined ? '' : JSON.stringify(body);
}

/** Sends the body with backpressure: reads the next piece only after the connection has taken the previous one. */
async function sendBody(body: ReadableStream<Uint8Array> | null, outgoing: ServerResponse): Promise<void> {
  if (!body) return;
  const reader = body.getReader();
  outgoing.on('close', () => void reader.cancel().catch(() => undefined));
  // Cuts the connection if reading the body fails while the connection accepts no more data. Without this
  // handler the failure would go unnoticed, since at that time no read is pending.
  reader.closed.catch(() => outgoing.destroy());
  for (;;) {
    const { done, value } = await reader.read();
    if (done || outgoing.destroyed) return;
    if (!outgoing.write(value)) await roomIn(outgoing);
  }
}

function roomIn(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    function go(): void {
      outgoing.off('drain', go).off('close', go);
      resolve();
    }
    outgoing.on('drain', go).on('close', go);
    if (outgoing.destroyed) go();
  });
}
