import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { checkedOptions, type KnownOptions } from '@queuelock/core/backend';
import type { ConnectionFacts } from './limits/client-id.ts';

/** Responds to web requests. */
export type Handler = (request: Request, connection: ConnectionFacts) => Promise<Response>;

/** Where to listen. */
export interface ServeOptions {
  readonly handle: Handler;
  /** Default 0: any free one. */
  readonly port?: number;
  /** Default `127.0.0.1`: nobody else's machine can connect. */
  readonly host?: string;
}

/** A server that listens. */
export interface Served extends AsyncDisposable {
  /** As a browser on the own machine takes it, without a slash at the end. */
  readonly url: string;
  readonly port: number;
  /** Cuts all connections; settles when the port is free. */
  close(): Promise<void>;
}

const OPTIONS: KnownOptions<ServeOptions> = { handle: 'function', port: 'number', host: 'string' };

/** Serves a handler over HTTP/1.1. Rejects when the port cannot be had. */
export async function serve(options: ServeOptions): Promise<Served> {
  const { handle, port = 0, host = '127.0.0.1' } = checkedOptions('options of serve', options, OPTIONS);
  const server = createServer(nodeListener(handle));
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

/** A handler as node:http, and what is built on it, takes it. */
export function nodeListener(handle: Handler): RequestListener {
  return (incoming, outgoing) => {
    void answer(handle, incoming, outgoing);
  };
}

async function answer(handle: Handler, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const gone = new AbortController();
  outgoing.on('close', () => gone.abort());
  // A broken connection ends the response, and there is nobody left to tell.
  outgoing.on('error', () => undefined);
  try {
    const { remoteAddress } = incoming.socket;
    const response = await handle(toRequest(incoming, gone.signal), { remoteAddress });
    // A body that was refused goes on coming: the connection ends with the response.
    if (!incoming.complete) outgoing.setHeader('connection', 'close');
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
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
  outgoing.flushHeaders();
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
