import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { Readable } from 'node:stream';
import { checkedOptions, type KnownOptions } from '@queuelock/core/backend';
import { networkOf, type ConnectionFacts } from './limits/client-id.ts';

/** Responds to web requests. */
export type Handler = (request: Request, connection: ConnectionFacts) => Promise<Response>;

/** Where to listen. */
export interface ServeOptions {
  readonly handle: Handler;
  /** Default 0: any free one. */
  readonly port?: number;
  /** Default `127.0.0.1`: other machines cannot connect. */
  readonly host?: string;
  /** Open connections; a further one is closed at once. Default 4,000. */
  readonly connections?: number;
  /** Open connections of one remote address, of IPv6 of its first 64 bits. Default 1,000: behind a proxy all have its address. */
  readonly connectionsPerAddress?: number;
}

/** A server that listens. */
export interface Served extends AsyncDisposable {
  /** As a browser on the own machine takes it, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** Cuts all connections; settles when the port is free. */
  close(): Promise<void>;
}

const OPTIONS: KnownOptions<ServeOptions> = {
  handle: 'function',
  port: 'number',
  host: 'string',
  connections: 'number',
  connectionsPerAddress: 'number',
};

// A client that sends its request slowly, or not at all, keeps its connection no longer.
const TIMEOUTS = { headersTimeout: 10_000, requestTimeout: 30_000, connectionsCheckingInterval: 5_000 };

/**
 * Serves a handler over HTTP/1.1, within limits of the number of connections and of the time that a request may take to arrive.
 * Rejects when the port cannot be had.
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

/** Closes what one address opens beyond its limit, before anything is read from it. */
function limitByAddress(most: number): (socket: Socket) => void {
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
    if (count > most) socket.destroy();
  };
}

/** A handler as node:http, and what is built on it, takes it. */
export function nodeListener(handle: Handler): RequestListener {
  return (incoming, outgoing) => {
    void answer(handle, incoming, outgoing);
  };
}

// One for all: to make an error at each end of a response would cost more than most responses.
const ENDED = new Error('the connection or the response has ended');

async function answer(handle: Handler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const gone = new AbortController();
  outgoing.on('close', () => gone.abort(ENDED));
  // A broken connection ends the response, and there is nobody left to tell.
  outgoing.on('error', () => undefined);
  try {
    const { remoteAddress } = incoming.socket;
    const response = await handle(toRequest(incoming, gone.signal), { remoteAddress });
    // A body that was refused goes on coming: the connection ends with the response.
    if (!incoming.complete) outgoing.setHeader('connection', 'close');
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    // The page is to know that its stream is open, also before there is anything to tell; other headers go with the body.
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) outgoing.flushHeaders();
    await pour(response.body, outgoing);
    outgoing.end();
  } catch {
    // The body broke off: so does the connection, and the client tries again.
    outgoing.destroy();
  }
}

function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const { method = 'GET', url = '/', headers } = incoming;
  const pairs = Object.entries(headers).flatMap(([name, values]) =>
    [values ?? []].flat().map((value): [string, string] => [name, value]),
  );
  const hasBody = method !== 'GET' && method !== 'HEAD';
  // What the client says of host and path is not to be trusted with more than being parsed.
  const address = new URL(url.startsWith('/') ? `http://localhost${url}` : 'http://localhost/');
  return new Request(address, {
    method,
    headers: pairs,
    signal,
    ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: 'half' } : {}),
  });
}

/** As fast as the connection takes it: nothing is read from the body before what came before has been handed to the system. */
async function pour(body: ReadableStream<Uint8Array> | null, outgoing: ServerResponse): Promise<void> {
  if (!body) return;
  const reader = body.getReader();
  outgoing.on('close', () => void reader.cancel().catch(() => undefined));
  // A body that is cut while the connection is full is noticed here.
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
